import { imageSize } from '../shared/image-size.ts'
import { describe, elements, isRecord, member } from '../shared/json-reader.ts'
import type { Rule, Violation } from '../shared/rule.ts'
import { ANTHROPIC_IMAGE_TYPES } from './limits.ts'
import { allBlocks, textOf } from './view.ts'
import type { AnthropicCheckConfig, AnthropicView, BlockView } from './view.ts'

type AnthropicRule = Rule<AnthropicView, AnthropicCheckConfig>

const maxTokens: AnthropicRule = {
  id: 'A2',
  level: 'refuse',
  profile: 'request',
  about: 'max_tokens is given, is an integer of at least 0, and is within the cap of the model where that is known.',
  check(view) {
    const value = member(view.request, 'max_tokens')
    const at = (message: string): Violation[] => [{ rule: 'A2', path: 'max_tokens', message }]
    if (value === undefined) return at('field required')
    if (!Number.isInteger(value) || (value as number) < 0) return at(`${describe(value)} is no number of tokens`)
    const cap = view.limits.maxOutputTokens
    return cap !== undefined && (value as number) > cap
      ? at(`${describe(value)} is over the model's cap of ${cap}`)
      : []
  },
}

const cacheMarks: AnthropicRule = {
  id: 'A28',
  level: 'refuse',
  profile: 'transcript',
  about: 'At most 4 blocks carry cache_control, and none with a ttl of 1h comes after one of 5m.',
  check(view) {
    const tools = elements(member(view.request, 'tools')).map((tool, index) => ({
      path: `tools.${index}`,
      value: tool,
    }))
    const marks = [...tools, ...view.system, ...allBlocks(view.items)].flatMap(({ path, value }) => {
      const mark = member(value, 'cache_control')
      return isRecord(mark) ? [{ path: `${path}.cache_control`, isLong: member(mark, 'ttl') === '1h' }] : []
    })
    const firstShort = marks.findIndex((mark) => !mark.isLong)
    return marks.flatMap(({ path, isLong }, index) => {
      if (index >= 4)
        return [{ rule: 'A28', path, message: 'a maximum of 4 blocks with cache_control may be provided' }]
      if (!isLong || firstShort < 0 || index < firstShort) return []
      return [{ rule: 'A28', path, message: "a ttl='1h' block must not come after a ttl='5m' block" }]
    })
  },
}

const images: AnthropicRule = {
  id: 'A29',
  level: 'refuse',
  profile: 'transcript',
  about: 'Images are JPEG, PNG, GIF or WebP, within the limits on number, size and sides.',
  check(view) {
    const { limits } = view
    const blocks = [...allBlocks(view.items)].filter((block) => block.type === 'image')
    const side = blocks.length > limits.manyImages ? limits.manyImagesSide : limits.imageSide
    const tooMany = blocks.slice(limits.images).map(({ path }) => ({ path, message: `over ${limits.images} images` }))
    return [...blocks.flatMap((block) => imageFaults(block, limits.imageBytes, side)), ...tooMany].map((fault) => ({
      rule: 'A29',
      ...fault,
    }))
  },
}

function imageFaults(
  { path, value }: BlockView,
  maxBytes: number,
  maxSide: number,
): { path: string; message: string }[] {
  const source = member(value, 'source')
  if (member(source, 'type') !== 'base64') return []
  const type = member(source, 'media_type')
  if (typeof type !== 'string' || !ANTHROPIC_IMAGE_TYPES.has(type)) {
    return [{ path: `${path}.source.media_type`, message: `${describe(type)} is no media type of a supported image` }]
  }
  const data = textOf(source, 'data')
  const size = imageSize(data)
  const found: string[] = []
  if (data.length > maxBytes) found.push(`the image exceeds ${maxBytes} bytes in base64`)
  if (size !== undefined && Math.max(size.width, size.height) > maxSide) found.push(`a side exceeds ${maxSide} pixels`)
  return found.map((message) => ({ path, message }))
}

const bodySize: AnthropicRule = {
  id: 'A30',
  level: 'refuse',
  profile: 'request',
  about: 'The body is at most 32 MB and has at most 100,000 messages.',
  check(view) {
    const bytes = view.bytes() ?? 0
    const count = elements(member(view.request, 'messages')).length
    const found: Violation[] = []
    const { limits } = view
    if (bytes > limits.bytes) found.push({ rule: 'A30', path: '', message: `${bytes} bytes, over ${limits.bytes}` })
    if (count > limits.messages)
      found.push({ rule: 'A30', path: 'messages', message: `over ${limits.messages} messages` })
    return found
  },
}

/** Rules on sizes and counts. */
export const limitRules: readonly AnthropicRule[] = [maxTokens, cacheMarks, images, bodySize]
