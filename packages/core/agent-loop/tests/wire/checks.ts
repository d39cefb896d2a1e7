import { type Session, type SessionEvent, jsonEqual, reconstructRequest, surfaceAt, toJson } from '@palimpsest/session'
import { type LanguageModelAdapterOptions, languageModelAdapter } from '@palimpsest/provider-messages'
import { callOptions } from '../../src/request.ts'
import type { SentRequest } from './recorder.ts'
import { type Wire, type WireTarget, fields, sealOf } from './targets.ts'

/** The request again, from the log alone: what the package would send for it. */
export async function sendAgain(
  events: readonly SessionEvent[],
  { seq, target }: Pick<SentRequest, 'seq' | 'target'>,
  options: LanguageModelAdapterOptions,
): Promise<string | undefined> {
  const { header, messages } = reconstructRequest(events, seq)
  const log = { events: events.slice(0, seq + 1), surface: { nodes: surfaceAt(events, seq) } }
  const exported = await languageModelAdapter(options).toPrompt({ session: log, header, messages })
  let text: string | undefined
  const model = target.model('http://127.0.0.1:9/v1', (_, init) => {
    text = init?.body as string
    return Promise.resolve(Response.json({ error: { type: 'x', message: 'captured' } }, { status: 400 }))
  })
  await Promise.resolve(model.doStream(callOptions(header, exported))).catch(() => undefined)
  return text
}

/** What does not hold of the requests of one log: the log alone gives the header, the messages and the very bytes. */
export async function requestProblems(
  session: Session,
  sent: readonly SentRequest[],
  options: LanguageModelAdapterOptions,
): Promise<string[]> {
  const { events } = session
  const problems: string[] = []
  for (const request of sent) {
    const { header, messages } = reconstructRequest(events, request.seq)
    const isSame = jsonEqual(
      toJson({ header, messages }),
      toJson({ header: request.header, messages: request.messages }),
    )
    if (!isSame) problems.push(`request ${request.seq} is not what the log gives`)
    if (request.text === undefined) continue
    const again = await sendAgain(events, request, options)
    if (again !== request.text)
      problems.push(`request ${request.seq}: the bytes differ\n${request.text}\n${String(again)}`)
  }
  return [...problems, ...prefixProblems(events, sent), ...sealProblems(events, sent)]
}

/** SPEC 7.1: with the same header and no replacement between, a later request begins with the earlier one. */
function prefixProblems(events: readonly SessionEvent[], sent: readonly SentRequest[]): string[] {
  const whole = sent.filter(({ text }) => text !== undefined)
  return whole.flatMap((later, at) => {
    const earlier = whole[at - 1]
    if (earlier === undefined || earlier.target !== later.target || !isContinued(events, earlier, later)) return []
    const { target } = later
    const [before, after] = [earlier, later].map(({ body }) => stable(target, body, thinkingDiffers(earlier, later)))
    const isPrefix = before?.every((block, index) => JSON.stringify(block) === JSON.stringify(after?.[index]))
    const sameHead = ['system', 'instructions', 'tools'].every(
      (name) => JSON.stringify(earlier.body[name]) === JSON.stringify(later.body[name]),
    )
    if (isPrefix && sameHead) return []
    return [`request ${later.seq} does not begin with request ${earlier.seq}\n${earlier.text}\n${later.text}`]
  })
}

function isContinued(events: readonly SessionEvent[], earlier: SentRequest, later: SentRequest): boolean {
  if (!jsonEqual(toJson(earlier.header), toJson(later.header))) return false
  return !events.slice(earlier.seq, later.seq).some(({ surfaceOp }) => typeof surfaceOp === 'object')
}

/** A request that goes out with thinking off leaves all thinking out. */
function thinkingDiffers(earlier: SentRequest, later: SentRequest): boolean {
  const [one, other] = [earlier, later].map(({ body }) => fields(body['thinking'])['type'])
  return one !== other
}

function stable({ sequence }: WireTarget, body: Wire, withoutThinking: boolean): readonly unknown[] {
  const isKept = (block: unknown): boolean => !['thinking', 'redacted_thinking'].includes(String(fields(block)['type']))
  return withoutThinking ? sequence(body).filter(isKept) : sequence(body)
}

/** Reasoning goes back byte by byte or not at all, and only to the family that made it. */
function sealProblems(events: readonly SessionEvent[], sent: readonly SentRequest[]): string[] {
  return sent.flatMap(({ seq, target, body, header }) => {
    const own = seals(events.slice(0, seq), target, header.config.provider)
    return target
      .reasoning(body)
      .filter((text) => !own.has(text))
      .map((text) => `request ${seq} sends reasoning that ${header.config.provider} did not make: ${text}`)
  })
}

function seals(events: readonly SessionEvent[], { kind }: WireTarget, provider: string): ReadonlySet<string> {
  const family = provider.split('.')[0]
  return new Set(
    events.flatMap((event) => {
      if (event.type !== 'assistant/message') return []
      const { content, source } = event.data.message
      if (source.kind !== 'model' || source.provider.split('.')[0] !== family) return []
      const blocks = fields(source.replayState)['blocks']
      const texts = content.flatMap((block, index) =>
        block.type === 'reasoning' ? [sealOf(kind, block.text, Array.isArray(blocks) ? blocks[index] : undefined)] : [],
      )
      // Chat servers have one reasoning text per message.
      const joined = kind === 'deepseek' || kind === 'compatible' ? [texts.join('')] : []
      return [...texts, ...joined].filter((text) => text !== undefined)
    }),
  )
}

/** Every request that a server got was sent by the test, and in that order. */
export function isSubsequence(part: readonly string[], whole: readonly string[]): boolean {
  let at = 0
  for (const text of whole) if (at < part.length && part[at] === text) at += 1
  return at === part.length
}
