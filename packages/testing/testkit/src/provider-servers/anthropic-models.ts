/** What a model id says about the rules of its requests. */
export interface AnthropicModel {
  /** Family and version, `opus-5.5`: what reads a thinking block. */
  readonly family: string
  readonly prefill: boolean
  readonly systemRole: boolean
  readonly manualThinking: boolean
  readonly adaptiveThinking: boolean
  readonly canDisableThinking: boolean
  readonly sampling: boolean
  readonly prefixBound: boolean
  /** Refuses a prompt that leaves no room for `max_tokens`, instead of stopping early. */
  readonly countsOutput: boolean
  /** Tokens that `max_tokens` may ask for. */
  readonly outputTokens: number
}

const patterns = [
  /^claude-(?<name>opus|sonnet|haiku|fable|mythos)-(?<major>\d)(?:-(?<minor>\d))?(?:-\d{8}|-latest)?$/,
  /^claude-(?<major>\d)(?:-(?<minor>\d))?-(?<name>opus|sonnet|haiku)(?:-\d{8}|-latest)?$/,
]

const bound = ['fable-5.1', 'fable-5.2', 'mythos-5.1', 'mythos-5.2', 'opus-5.5', 'sonnet-5.5', 'haiku-5.5']

/** `undefined` for an id that names no model. */
export function anthropicModel(id: string): AnthropicModel | undefined {
  const groups = patterns.map((pattern) => pattern.exec(id)?.groups).find((one) => one !== undefined)
  if (groups === undefined) return undefined
  const { name = '', major = '0', minor = '0' } = groups
  const version = Number(`${major}.${minor}`)
  const family = `${name}-${major}.${minor}`
  return {
    family,
    prefill: version <= 4.5,
    systemRole: version >= 5 || (name === 'opus' && version >= 4.8),
    manualThinking: version <= 4.6,
    adaptiveThinking: version > 4.5,
    canDisableThinking: name !== 'fable' && name !== 'mythos',
    sampling: version < 4.7,
    prefixBound: bound.includes(family),
    countsOutput: version < 4.5,
    outputTokens: version < 4 ? 8192 : 128_000,
  }
}
