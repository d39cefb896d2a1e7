import { OPENAI_IMAGE_TYPES } from '../openai-chat/limits.ts'
import { describe, member } from '../shared/json-reader.ts'
import type { Rule, Violation } from '../shared/rule.ts'
import type { OpenAiResponsesCheckConfig, OpenAiResponsesView } from './view.ts'

type ResponsesRule = Rule<OpenAiResponsesView, OpenAiResponsesCheckConfig>

const outputTokens: ResponsesRule = {
  id: 'OR14',
  level: 'refuse',
  profile: 'request',
  about: 'max_output_tokens, if given, is at least 16. Whether a previous_response_id exists, the server knows.',
  check({ request }) {
    const value = member(request, 'max_output_tokens') ?? 16
    if (Number.isInteger(value) && (value as number) >= 16) return []
    return [{ rule: 'OR14', path: 'max_output_tokens', message: `${describe(value)} is below the minimum of 16` }]
  },
}

const images: ResponsesRule = {
  id: 'OR19',
  level: 'refuse',
  profile: 'transcript',
  about: 'Images are PNG, JPEG, WebP or GIF, within the limits on number and on the size of the body.',
  check({ items, limits, bytes }, { profile }) {
    const parts = items.flatMap((item) => item.parts).filter((part) => part.type === 'input_image')
    const found: Violation[] = []
    const at = (path: string, message: string): number => found.push({ rule: 'OR19', path, message })
    for (const { path, value } of parts) {
      const url = member(value, 'image_url')
      const type = typeof url === 'string' ? /^data:([^;,]*)/i.exec(url)?.[1]?.toLowerCase() : undefined
      if (type !== undefined && !OPENAI_IMAGE_TYPES.has(type)) at(path, `${describe(type)} is no supported image`)
    }
    for (const { path } of parts.slice(limits.images)) at(path, `over ${limits.images} images`)
    const size = profile === 'request' ? (bytes() ?? 0) : 0
    if (size > limits.bytes) at('', `${size} bytes, over ${limits.bytes}`)
    return found
  },
}

/** Rules on sizes and counts. */
export const limitRules: readonly ResponsesRule[] = [outputTokens, images]
