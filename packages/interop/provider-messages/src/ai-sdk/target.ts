import { ANTHROPIC_IMAGE_TYPES, ANTHROPIC_LIMITS } from '../anthropic/limits.ts'
import { OPENAI_CHAT_LIMITS, OPENAI_IMAGE_TYPES } from '../openai-chat/limits.ts'
import { OPENAI_RESPONSES_LIMITS } from '../openai-responses/limits.ts'
import { providerFamily } from '../shared/replay.ts'

/** Whose rules a prompt meets on the wire of its package. */
export type TargetKind = 'anthropic' | 'openai-responses' | 'openai-chat' | 'deepseek' | 'compatible'

/** Sizes that the target takes; what is not given is not limited. */
export interface LanguageModelLimits {
  /** UTF-8 bytes of the prompt as JSON. */
  readonly bytes: number
  readonly messages?: number
  readonly images: number
  /** Characters of one image in base64. */
  readonly imageBytes?: number
  /** Pixels of one side. */
  readonly imageSide?: number
  readonly manyImages?: number
  /** Pixels of one side when the prompt has more than `manyImages`. */
  readonly manyImagesSide?: number
  /** Calls of one assistant message. */
  readonly toolCalls?: number
}

/** What differs between targets before the prompt is written. PROVIDERS 1 to 4, 6. */
export interface Target {
  readonly kind: TargetKind
  /** Characters of a call id. */
  readonly callIdLength: number
  /** Characters of a tool name. */
  readonly toolNameLength: number
  readonly imageTypes: ReadonlySet<string>
  readonly limits: LanguageModelLimits
  /** Whether results take images; error results never do, for `error-text` is text. */
  readonly takesResultImages: boolean
}

const OPENAI = { toolNameLength: 64, imageTypes: OPENAI_IMAGE_TYPES, takesResultImages: false } as const

const TARGETS: { readonly [Kind in TargetKind]: Target } = {
  anthropic: {
    kind: 'anthropic',
    callIdLength: Infinity,
    toolNameLength: 128,
    imageTypes: ANTHROPIC_IMAGE_TYPES,
    limits: ANTHROPIC_LIMITS,
    takesResultImages: true,
  },
  'openai-responses': {
    ...OPENAI,
    kind: 'openai-responses',
    callIdLength: 64,
    limits: OPENAI_RESPONSES_LIMITS,
    takesResultImages: true,
  },
  'openai-chat': { ...OPENAI, kind: 'openai-chat', callIdLength: 40, limits: OPENAI_CHAT_LIMITS },
  deepseek: { ...OPENAI, kind: 'deepseek', callIdLength: 40, limits: OPENAI_CHAT_LIMITS },
  compatible: { ...OPENAI, kind: 'compatible', callIdLength: 40, limits: OPENAI_CHAT_LIMITS },
}

/**
 * The target behind the `provider` of a model. Custom names and clouds keep the wire format as a later part of theirs:
 * `vertex.anthropic.messages`, `azure.responses`. Whatever is not known is a compatible Chat Completions server.
 */
export function targetOf(provider: string): Target {
  const parts = provider.split('.')
  const last = parts.at(-1)
  if (parts.includes('anthropic') || last === 'messages') return TARGETS.anthropic
  if (last === 'responses') return TARGETS['openai-responses']
  if (provider === 'openai.chat' || provider === 'azure.chat') return TARGETS['openai-chat']
  return providerFamily(provider).startsWith('deepseek') ? TARGETS.deepseek : TARGETS.compatible
}
