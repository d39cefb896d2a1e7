import type { TextBlock } from '@palimpsest/session'
import { isObject, stringMember } from '../json.ts'

/** Custom type of the entries that hold system messages of ours, which pi has no place for. */
export const systemType = '@palimpsest/system'

/** The text blocks of such an entry; `undefined` where it holds anything else. */
export function systemContent(content: unknown): readonly TextBlock[] | undefined {
  if (!Array.isArray(content)) return undefined
  const blocks = (content as readonly unknown[]).flatMap((block): TextBlock[] => {
    const text = isObject(block) && block['type'] === 'text' ? stringMember(block, 'text') : undefined
    return text === undefined ? [] : [{ type: 'text', text }]
  })
  return blocks.length === content.length ? blocks : undefined
}
