import type { ImageBlock, Json, ResultContentBlock, TextBlock, ToolCallId } from '@palimpsest/session'
import type { DraftBlock } from '../conversation/draft.ts'
import { countMember, isObject, objectMember, plainJson, stringMember } from '../json.ts'
import type { LooseObject } from '../json.ts'

/** What a content becomes, and the types of what no message here can hold. */
export interface ReadBlocks<Block> {
  readonly blocks: readonly Block[]
  readonly odd: readonly string[]
}

function read<Block>(
  content: unknown,
  blockOf: (block: LooseObject, at: number) => Block | undefined,
): ReadBlocks<Block> | undefined {
  if (!Array.isArray(content)) return undefined
  const blocks: Block[] = []
  const odd: string[] = []
  for (const [at, item] of (content as readonly unknown[]).entries()) {
    const block = isObject(item) ? blockOf(item, at) : undefined
    if (block === undefined) odd.push((isObject(item) ? stringMember(item, 'type') : undefined) ?? typeof item)
    else blocks.push(block)
  }
  return { blocks, odd }
}

function textBlock(block: LooseObject): TextBlock | undefined {
  const text = stringMember(block, 'type') === 'text' ? stringMember(block, 'text') : undefined
  return text === undefined ? undefined : { type: 'text', text }
}

function imageBlock(block: LooseObject): ImageBlock | undefined {
  const attachment = objectMember(block, 'attachment')
  if (stringMember(block, 'type') !== 'image' || attachment === undefined) return undefined
  const [attachmentId = '', mediaType = ''] = ['attachmentId', 'mediaType'].map((name) =>
    stringMember(attachment, name),
  )
  const bytes = countMember(attachment, 'bytes')
  if (!/^sha256:[0-9a-f]{64}$/.test(attachmentId) || mediaType === '' || bytes === undefined) return undefined
  return { type: 'image', attachment: { attachmentId, mediaType, bytes } }
}

/** Text blocks only, as a system prompt has them; `undefined` for anything else. */
export function textBlocks(content: unknown): readonly TextBlock[] | undefined {
  const found = read(content, textBlock)
  return found === undefined || found.odd.length > 0 ? undefined : found.blocks
}

export function userBlocks(content: unknown): ReadBlocks<TextBlock | ImageBlock> | undefined {
  return read(content, (block) => textBlock(block) ?? imageBlock(block))
}

/** What no result can hold stands as JSON. */
export function resultBlocks(content: unknown): ReadBlocks<ResultContentBlock> | undefined {
  const odd: string[] = []
  const found = read(content, (block): ResultContentBlock => {
    const known = textBlock(block) ?? imageBlock(block)
    if (known !== undefined) return known
    odd.push(stringMember(block, 'type') ?? 'object')
    return { type: 'text', text: JSON.stringify(block) }
  })
  return found === undefined ? undefined : { blocks: found.blocks, odd: [...odd, ...found.odd] }
}

/** The blocks of a response with the private data of each. */
export function assistantBlocks(content: unknown, replayState: unknown): ReadBlocks<DraftBlock> | undefined {
  const listed = isObject(replayState) ? replayState['blocks'] : undefined
  const replays = Array.isArray(listed) ? (listed as readonly (Json | undefined)[]) : []
  return read(content, (block, at): DraftBlock | undefined => {
    const replay = plainJson(replays[at])
    const known = textBlock(block) ?? imageBlock(block)
    if (known !== undefined) return { block: known, replay }
    const type = stringMember(block, 'type')
    const text = stringMember(block, 'text')
    if (type === 'reasoning' && text !== undefined) return { block: { type, text }, replay }
    const [id, name, args] = ['id', 'name', 'arguments'].map((member) => stringMember(block, member))
    if (type !== 'tool-call' || id === undefined || name === undefined || name === '' || args === undefined)
      return undefined
    return { block: { type, id: id as ToolCallId, name, arguments: args }, replay }
  })
}
