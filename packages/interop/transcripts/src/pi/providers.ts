import type { Json, JsonObject } from '@palimpsest/session'
import { isObject, objectMember, stringMember } from '../json.ts'
import type { LooseObject } from '../json.ts'

/** Who answered, in pi's own words. */
export interface PiProvider {
  /** Wire format, such as `anthropic-messages`; empty where the file says none. */
  readonly api: string
  readonly provider: string
}

/** Providers whose name in the AI SDK is not made of the two words. */
const known: readonly (PiProvider & { readonly name: string })[] = [
  { api: 'anthropic-messages', provider: 'anthropic', name: 'anthropic' },
  { api: 'azure-openai-responses', provider: 'azure-openai-responses', name: 'azure.responses' },
  { api: 'openai-completions', provider: 'deepseek', name: 'deepseek' },
  { api: 'google-vertex', provider: 'google-vertex', name: 'google.vertex.chat' },
  { api: 'bedrock-converse-stream', provider: 'amazon-bedrock', name: 'amazon-bedrock' },
]

/** What the AI SDK puts behind the name of a provider, by wire format. */
const forms: readonly (readonly [api: string, form: string])[] = [
  ['anthropic-messages', '.messages'],
  ['openai-responses', '.responses'],
  ['openai-codex-responses', '.responses'],
  ['openai-completions', '.chat'],
  ['google-generative-ai', '.generative-ai'],
]

/** The provider as the adapters of the AI SDK name it, so that sealed reasoning finds back to its maker. */
export function providerName({ api, provider }: PiProvider): string {
  const found = known.find((one) => one.api === api && one.provider === provider)
  return found?.name ?? `${provider}${forms.find(([of]) => of === api)?.[1] ?? ''}`
}

/** pi's own words for a provider; `api` is `unknown` for one that pi has no name for. */
export function piProvider(name: string): PiProvider {
  const found = known.find((one) => one.name === name)
  if (found !== undefined) return { api: found.api, provider: found.provider }
  const [api, form] = forms.find((one) => name.endsWith(one[1])) ?? ['unknown', '']
  return { api, provider: name.slice(0, name.length - form.length) }
}

type Family = 'anthropic' | 'responses' | 'google' | 'other'

function family({ api, provider }: PiProvider): Family {
  if (api === 'anthropic-messages' || (api === '' && provider === 'anthropic')) return 'anthropic'
  if (api.endsWith('responses')) return 'responses'
  return api.startsWith('google') ? 'google' : 'other'
}

/** The names of pi's signatures on text, reasoning and calls. */
export type SignatureMember = 'textSignature' | 'thinkingSignature' | 'thoughtSignature'

/** A reasoning block of ours: pi writes one block for an item of which others write one for each part of its summary. */
export interface SealedText {
  readonly text: string
  readonly replay: Json
}

/** Reasoning with what its maker wants back. PROVIDERS OR9. */
export function sealedReasoning(block: LooseObject, by: PiProvider): SealedText[] {
  const text = stringMember(block, 'thinking') ?? ''
  const signature = stringMember(block, 'thinkingSignature')
  const isRedacted = block['redacted'] === true
  if (signature === undefined || signature === '') return [{ text, replay: null }]
  if (family(by) === 'anthropic') {
    const replay = isRedacted ? { type: 'redacted_thinking', data: signature } : { type: 'thinking', signature }
    return [{ text, replay }]
  }
  const item = family(by) === 'responses' ? reasoningItem(signature) : undefined
  if (item === undefined) return [{ text, replay: signed('thinkingSignature', signature, by) }]
  const replay = openAiReplay(by, item.metadata)
  const isSplit = item.summary.length > 1 && item.summary.join(summaryBreak) === text
  return isSplit ? item.summary.map((part) => ({ text: part, replay })) : [{ text, replay }]
}

/** What stands between the parts of a summary in pi's one text for them. */
export const summaryBreak = '\n\n'

interface ReasoningItem {
  readonly metadata: JsonObject
  readonly summary: readonly string[]
}

/** A reasoning item of OpenAI Responses, which pi keeps as JSON text. */
function reasoningItem(signature: string): ReasoningItem | undefined {
  const item = parsed(signature)
  const itemId = isObject(item) && item['type'] === 'reasoning' ? stringMember(item, 'id') : undefined
  if (!isObject(item) || itemId === undefined) return undefined
  const encrypted = stringMember(item, 'encrypted_content')
  const summary = Array.isArray(item['summary']) ? item['summary'] : []
  return {
    metadata: { itemId, ...(encrypted === undefined ? {} : { reasoningEncryptedContent: encrypted }) },
    summary: summary.flatMap((part) => (isObject(part) ? (stringMember(part, 'text') ?? []) : [])),
  }
}

/** What a signature of pi's becomes in `replayState.blocks`; `null` for none. */
export function signed(member: SignatureMember, signature: string | undefined, by: PiProvider): Json {
  if (signature === undefined || signature === '') return null
  const kind = family(by)
  if (kind === 'google') return { providerMetadata: { google: { thoughtSignature: signature } } }
  if (kind === 'responses' && member === 'textSignature') return openAiReplay(by, textItem(signature))
  return { [member]: signature }
}

/** The item that a text was: its bare id in older files. */
function textItem(signature: string): JsonObject {
  const item = parsed(signature)
  const id = isObject(item) ? stringMember(item, 'id') : undefined
  if (!isObject(item) || id === undefined) return { itemId: signature }
  const phase = stringMember(item, 'phase')
  return { itemId: id, ...(phase === undefined ? {} : { phase }) }
}

const openAiReplay = ({ api }: PiProvider, metadata: JsonObject): JsonObject => ({
  providerMetadata: { [api.startsWith('azure') ? 'azure' : 'openai']: metadata },
})

/** The signature that pi would have kept, from an entry of `replayState.blocks`; `undefined` where it holds none. */
export function signatureOf(member: SignatureMember, entry: Json | undefined): string | undefined {
  if (!isObject(entry)) return undefined
  const own = stringMember(entry, member)
  if (own !== undefined) return own
  const metadata = objectMember(entry, 'providerMetadata') ?? {}
  const google = stringMember(objectMember(metadata, 'google') ?? {}, 'thoughtSignature')
  if (google !== undefined || member !== 'textSignature') return google
  const item = openAiItem(entry)
  const phase = item && stringMember(item, 'phase')
  return item && JSON.stringify({ v: 1, id: stringMember(item, 'itemId'), ...(phase === undefined ? {} : { phase }) })
}

/** The item of OpenAI Responses that a block was part of. */
export function openAiItem(entry: Json | undefined): LooseObject | undefined {
  if (!isObject(entry)) return undefined
  const metadata = objectMember(entry, 'providerMetadata') ?? {}
  const item = objectMember(metadata, 'openai') ?? objectMember(metadata, 'azure')
  return item !== undefined && stringMember(item, 'itemId') !== undefined ? item : undefined
}

/** Anthropic's seal of a reasoning block, in either form in which a log holds it. */
export function anthropicSeal(
  entry: Json | undefined,
): { readonly signature: string; readonly isRedacted: boolean } | undefined {
  if (!isObject(entry)) return undefined
  const metadata = objectMember(objectMember(entry, 'providerMetadata') ?? {}, 'anthropic') ?? {}
  const signature = stringMember(metadata, 'signature') ?? stringMember(entry, 'signature')
  if (signature !== undefined) return { signature, isRedacted: false }
  const data = stringMember(metadata, 'redactedData') ?? stringMember(entry, 'data')
  return data === undefined ? undefined : { signature: data, isRedacted: true }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
