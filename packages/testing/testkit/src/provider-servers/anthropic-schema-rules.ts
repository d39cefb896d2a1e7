/** Rules A1…A34 that look at one member or block at a time, in the order in which the provider reports. */
import { isThinking, nested, placeOf, type AnthropicView, type PlacedBlock } from './anthropic-view.ts'
import { fieldsOf, isFields, listOf, loneSurrogate, stringOf, type Fields } from './json.ts'
import { imageSize } from './images.ts'
import { firstOf, repeated, type Fault, type Rule } from './rule.ts'

const topLevel = new Set(
  `model messages max_tokens system tools tool_choice thinking output_config output_format cache_control temperature top_p
   top_k stop_sequences stream metadata service_tier container context_management mcp_servers speed inference_geo`.split(
    /\s+/,
  ),
)
const toolName = /^[a-zA-Z0-9_-]{1,128}$/

function eachBlock(
  view: AnthropicView,
  type: string,
  check: (block: PlacedBlock) => Fault | string | undefined,
): Fault | string | undefined {
  return firstOf(
    view.blocks.filter((block) => block.type === type),
    check,
  )
}

function textFault(view: AnthropicView, isBad: (text: string) => boolean, words: string): string | undefined {
  const inMessages = nested(view.blocks).some(({ type, text }) => type === 'text' && isBad(stringOf(text)))
  if (inMessages) return `messages: text content blocks must ${words}`
  const inSystem = Array.isArray(view.body['system']) && view.system.some(({ text }) => isBad(stringOf(text)))
  return inSystem ? `system: text content blocks must ${words}` : undefined
}

function images(view: AnthropicView): readonly Fields[] {
  return nested(view.blocks)
    .filter(({ type }) => type === 'image')
    .map(({ source }) => fieldsOf(source))
}

function base64Images(view: AnthropicView): readonly Fields[] {
  return images(view).filter(({ type }) => type === 'base64')
}

/** In the order in which a cache reads them. */
function cacheMarks(view: AnthropicView): readonly Fields[] {
  return [...view.tools, ...view.system, ...nested(view.blocks)]
    .map((block) => block['cache_control'])
    .filter((mark) => isFields(mark))
}

function tooLargeImage(view: AnthropicView): Fault | undefined {
  const all = base64Images(view)
  const side = all.length > 20 ? 2000 : 8000
  const isTooLarge = all.some(({ data }) => {
    const size = imageSize(stringOf(data))
    return size !== undefined && Math.max(size.width, size.height) > side
  })
  const kind = side === 2000 ? ' for many-image requests: 2000 pixels' : ': 8000 pixels'
  return isTooLarge
    ? {
        message: `At least one of the image dimensions exceed max allowed size${kind}`,
        code: 'image_dimensions_too_large',
      }
    : undefined
}

export const anthropicSchemaRules: readonly Rule<AnthropicView>[] = [
  {
    id: 'A30.bytes',
    level: 'refuse',
    check: ({ request, settings }) =>
      request.length > settings.limits.bodyBytes
        ? { status: 413, type: 'request_too_large', message: 'Request exceeds the maximum size' }
        : undefined,
  },
  {
    id: 'A31',
    level: 'refuse',
    check: ({ request }) => {
      const lone = loneSurrogate(request.text, request.bytes)
      if (lone === undefined) return undefined
      const fault = lone.half === 'high' ? 'no low surrogate in string' : 'invalid high surrogate in string'
      return `The request body is not valid JSON: ${fault}: line 1 column ${lone.offset + 1} (char ${lone.offset})`
    },
  },
  {
    id: 'json',
    level: 'refuse',
    check: ({ request }) => (request.isJsonObject ? undefined : 'The request body is not valid JSON'),
  },
  {
    id: 'model',
    level: 'refuse',
    check: ({ body, model, settings }) => {
      if (typeof body['model'] !== 'string') return 'model: Field required'
      const isKnown = model !== undefined && (settings.models?.includes(body['model']) ?? true)
      return isKnown ? undefined : { status: 404, type: 'not_found_error', message: `model: ${body['model']}` }
    },
  },
  {
    id: 'A22.tools',
    level: 'refuse',
    check: ({ tools }) =>
      firstOf(tools, ({ name, type }, index) => {
        // Server tools have names of their own; their `type` says which.
        if (type !== undefined && type !== 'custom') return undefined
        if (toolName.test(stringOf(name))) return undefined
        const words =
          stringOf(name).length > 128
            ? 'String should have at most 128 characters'
            : `String should match pattern '${toolName.source}'`
        return `tools.${index}.custom.name: ${words}`
      }),
  },
  {
    id: 'A22.unique',
    level: 'refuse',
    check: ({ tools }) =>
      repeated(tools.map(({ name }) => stringOf(name))).length > 0 ? 'tools: Tool names must be unique.' : undefined,
  },
  {
    id: 'A1.messages',
    level: 'refuse',
    check: ({ body }) => {
      if (body['messages'] === undefined) return 'messages: Field required'
      if (!Array.isArray(body['messages'])) return 'messages: Input should be a valid list'
      return body['messages'].length === 0 ? 'messages: at least one message is required' : undefined
    },
  },
  {
    id: 'A30.messages',
    level: 'refuse',
    check: ({ messages, settings: { limits } }) =>
      messages.length > limits.messages ? `messages: at most ${limits.messages} messages are allowed` : undefined,
  },
  {
    id: 'A1.role',
    level: 'refuse',
    check: ({ messages }) =>
      firstOf(messages, ({ role }) =>
        ['user', 'assistant', 'system'].includes(role)
          ? undefined
          : `messages: Unexpected role "${role}". Allowed roles are "user" or "assistant"`,
      ),
  },
  {
    id: 'A1.keys',
    level: 'refuse',
    check: ({ messages }) =>
      firstOf(messages, ({ index, role, fields }) => {
        const extra = Object.keys(fields).find(
          (key) => key !== 'role' && key !== 'content' && !(role === 'system' && key === 'output_config'),
        )
        return extra === undefined ? undefined : `messages.${index}.${extra}: Extra inputs are not permitted`
      }),
  },
  {
    id: 'A20',
    level: 'refuse',
    check: (view) =>
      eachBlock(view, 'tool_use', (block) =>
        /^[a-zA-Z0-9_-]+$/.test(stringOf(block.fields['id']))
          ? undefined
          : `${placeOf(block)}.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'`,
      ),
  },
  {
    id: 'A21',
    level: 'refuse',
    check: (view) =>
      eachBlock(view, 'tool_use', (block) =>
        isFields(block.fields['input'])
          ? undefined
          : `${placeOf(block)}.tool_use.input: Input should be a valid dictionary`,
      ),
  },
  {
    id: 'A22.history',
    level: 'refuse',
    check: (view) =>
      eachBlock(view, 'tool_use', (block) =>
        stringOf(block.fields['name']).length <= 200
          ? undefined
          : `${placeOf(block)}.tool_use.name: String should have at most 200 characters`,
      ),
  },
  {
    id: 'A22.reference',
    level: 'refuse',
    check: ({ blocks }) =>
      nested(blocks).some(({ type, tool_name: name }) => type === 'tool_reference' && stringOf(name).length > 64)
        ? 'messages: tool_reference.tool_name: String should have at most 64 characters'
        : undefined,
  },
  {
    id: 'A23.fields',
    level: 'refuse',
    check: ({ blocks }) =>
      firstOf(blocks.filter(isThinking), (block) => {
        const missing = (block.type === 'thinking' ? ['thinking', 'signature'] : ['data']).find(
          (key) => typeof block.fields[key] !== 'string',
        )
        return missing === undefined ? undefined : `${placeOf(block)}.${block.type}.${missing}: Field required`
      }),
  },
  {
    id: 'A29.type',
    level: 'refuse',
    check: (view) =>
      base64Images(view).some(
        ({ media_type: type }) => !['image/jpeg', 'image/png', 'image/gif', 'image/webp'].includes(stringOf(type)),
      )
        ? "messages: image.source.base64.media_type: Input should be 'image/jpeg', 'image/png', 'image/gif' or 'image/webp'"
        : undefined,
  },
  {
    id: 'A29.bytes',
    level: 'refuse',
    check: (view) =>
      base64Images(view).some(({ data }) => stringOf(data).length > view.settings.limits.imageCharacters)
        ? 'messages: image exceeds 10 MB maximum'
        : undefined,
  },
  {
    id: 'A29.old-bytes',
    level: 'portable',
    check: (view) =>
      base64Images(view).some(({ data }) => stringOf(data).length > view.settings.limits.imageCharacters / 2)
        ? 'messages: image exceeds 5 MB maximum'
        : undefined,
  },
  { id: 'A29.sides', level: 'refuse', check: tooLargeImage },
  {
    id: 'A29.count',
    level: 'portable',
    check: (view) => (images(view).length > 100 ? 'messages: too many images: the maximum is 100' : undefined),
  },
  { id: 'A12', level: 'refuse', check: (view) => textFault(view, (text) => text === '', 'be non-empty') },
  {
    id: 'A13',
    level: 'refuse',
    check: (view) => textFault(view, (text) => text !== '' && text.trim() === '', 'contain non-whitespace text'),
  },
  {
    id: 'A27.manual',
    level: 'refuse',
    check: ({ thinking, model }) =>
      thinking === 'enabled' && model?.manualThinking === false
        ? '"thinking.type.enabled" is not supported for this model'
        : undefined,
  },
  {
    id: 'A27.adaptive',
    level: 'refuse',
    check: ({ thinking, model }) =>
      thinking === 'adaptive' && model?.adaptiveThinking === false
        ? 'adaptive thinking is not supported on this model'
        : undefined,
  },
  {
    id: 'A27.disabled',
    level: 'refuse',
    check: ({ thinking, model }) =>
      thinking === 'disabled' && model?.canDisableThinking === false
        ? '"thinking.type.disabled" is not supported for this model'
        : undefined,
  },
  {
    id: 'A28.count',
    level: 'refuse',
    check: (view) => {
      const { length } = cacheMarks(view)
      return length > 4 ? `A maximum of 4 blocks with cache_control may be provided. Found ${length}.` : undefined
    },
  },
  {
    id: 'A28.order',
    level: 'refuse',
    check: (view) => {
      const long = cacheMarks(view).map(({ ttl }) => ttl === '1h')
      return long.lastIndexOf(true) > long.indexOf(false) && long.includes(false)
        ? "a ttl='1h' cache_control block must not come after a ttl='5m' cache_control block"
        : undefined
    },
  },
  {
    id: 'A2.required',
    level: 'refuse',
    check: ({ body }) => {
      const most = body['max_tokens']
      if (most === undefined) return 'max_tokens: Field required'
      return typeof most === 'number' && most >= 0
        ? undefined
        : 'max_tokens: Input should be greater than or equal to 0'
    },
  },
  {
    id: 'A2.cap',
    level: 'refuse',
    check: ({ body, model }) => {
      const [most, cap] = [Number(body['max_tokens']), model?.outputTokens ?? Infinity]
      return most > cap
        ? `max_tokens: ${most} > ${cap}, which is the maximum allowed number of output tokens for ${stringOf(body['model'])}`
        : undefined
    },
  },
  {
    id: 'A27.sampling',
    level: 'refuse',
    check: ({ body, model }) => {
      if (model?.sampling !== false) return undefined
      const name = ['temperature', 'top_p', 'top_k'].find((key) => body[key] !== undefined && body[key] !== 1)
      return name === undefined ? undefined : `${name}: only the default value is supported for this model`
    },
  },
  {
    id: 'A1.unknown',
    level: 'refuse',
    check: ({ body }) => {
      const extra = Object.keys(body).find((key) => !topLevel.has(key))
      return extra === undefined ? undefined : `${extra}: Extra inputs are not permitted`
    },
  },
  {
    id: 'A11.blocks',
    level: 'refuse',
    check: ({ messages }) =>
      firstOf(messages, ({ index, role, blocks }) =>
        role === 'system' && blocks.some(({ type }) => !['text', 'tool_addition', 'tool_removal'].includes(type))
          ? `messages.${index}: role 'system' supports text, tool_addition, and tool_removal blocks only`
          : undefined,
      ),
  },
  {
    id: 'A11.empty',
    level: 'refuse',
    check: ({ messages }) =>
      firstOf(messages, ({ index, role, blocks, fields }) =>
        role === 'system' && blocks.length === 0 && fields['output_config'] === undefined
          ? `messages.${index}: system content must contain at least one block`
          : undefined,
      ),
  },
]

/** Members of the messages that name tools, so that callers need not list blocks again. */
export function toolUseIds(blocks: readonly PlacedBlock[]): readonly string[] {
  return blocks.filter(({ type }) => type === 'tool_use').map(({ fields }) => stringOf(fields['id']))
}

/** Ids that the results of `blocks` answer. */
export function resultIds(blocks: readonly PlacedBlock[]): readonly string[] {
  return blocks.filter(({ type }) => type === 'tool_result').map(({ fields }) => stringOf(fields['tool_use_id']))
}

/** Whether a system message only carries directives, which is legal anywhere. */
export function isDirective({ fields }: { readonly fields: Fields }): boolean {
  return listOf(fields['content']).length === 0 && Array.isArray(fields['content']) && isFields(fields['output_config'])
}
