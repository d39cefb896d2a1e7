import type { AssistantStreamRecord, EventEnvelope } from '@palimpsest/session'
import { assistantData, resultData, systemData, text, toolCall, userData } from './payloads.ts'
import { seededRandom } from './fs-crash-state.ts'

/** What `codingSession` makes. Equal options make equal sessions. */
export interface CodingSessionOptions {
  readonly seed: number
  /** How many events; the last turn may be cut off anywhere. */
  readonly events: number
  /** Share of the events that are replacements, 0 to 0.2: half rewrites of one result, half summaries of a few entries. */
  readonly replacementRate: number
}

/** One step of a session: what to append, and the event that it becomes. */
export interface CodingStep {
  readonly type: string
  readonly data: EventEnvelope['data']
  readonly intent?: Pick<EventEnvelope, 'surfaceOp' | 'sourceEventSeqs'>
  readonly event: EventEnvelope
}

interface Entry {
  readonly seq: number
  /** 0 where the surface is balanced before and after this entry, else the place inside a batch. */
  readonly depth: number
  readonly result?: ReturnType<typeof resultData>
}

const words =
  'const session export function return import error expected test value the file path line of to is not a run build pass fail async await type string number '
const source = Array.from({ length: 400 }, (_, at) => words.slice(at % 60) + String(at)).join('\n')

/**
 * A tool-heavy coding session, streamed: prompts, steps with parallel calls, results from a few bytes to tens of
 * kilobytes, request events, and replacements at the given rate. Same seed, same bytes.
 */
export function* codingSession({
  seed,
  events,
  replacementRate,
}: CodingSessionOptions): Generator<CodingStep, void, undefined> {
  const random = seededRandom(seed)
  const upTo = (limit: number): number => Math.floor(random() * limit)
  const prose = (length: number): string => {
    const from = upTo(Math.max(source.length - length, 1))
    return source.slice(from, from + length)
  }
  const surface: Entry[] = []
  let seq = 0
  let time = 1_700_000_000_000
  let turn = 0
  let step = 0
  let replacements = 0

  const made = (type: string, data: object, intent?: object): CodingStep => {
    const event = { type, seq, time: (time += 1 + upTo(900)), ...intent, data } as unknown as EventEnvelope
    seq += 1
    return { type, data: event.data, ...(intent === undefined ? {} : { intent }), event }
  }
  const appended = (type: string, data: object, depth = 0, sources?: readonly number[]): CodingStep => {
    surface.push({ seq, depth, ...(type === 'tool/result' ? { result: data as ReturnType<typeof resultData> } : {}) })
    return made(type, data, { surfaceOp: 'append', ...(sources === undefined ? {} : { sourceEventSeqs: sources }) })
  }
  const replaced = (
    type: string,
    data: object,
    start: number,
    count: number,
    entry: Omit<Entry, 'seq'>,
  ): CodingStep => {
    const range = surface.slice(start, start + count).map((member) => member.seq)
    surface.splice(start, count, { seq, ...entry })
    replacements += 1
    const surfaceOp = { op: 'replace', startSeq: range[0], endSeq: range.at(-1) }
    return made(type, data, { surfaceOp, sourceEventSeqs: range })
  }

  /** Cuts a result near the tail of the surface to its head. */
  function prune(): CodingStep | undefined {
    for (let at = surface.length - 1 - upTo(60); at > 0; at--) {
      const { result, depth } = surface[at] as Entry
      if (result === undefined) continue
      const [block] = result.message.content
      const data = {
        ...result,
        message: { ...result.message, content: [{ ...block, content: [text(`[pruned] ${prose(80)}`)] }] },
      }
      return replaced('tool/result', data, at, 1, { depth, result: data as unknown as typeof result })
    }
    return undefined
  }

  /** Puts one user message in the place of a few whole steps near the tail. */
  function summarise(): CodingStep | undefined {
    let start = surface.length - 4 - upTo(80)
    while (start > 1 && surface[start]?.depth !== 0) start -= 1
    if (start < 1 || surface[start]?.depth !== 0) return undefined
    let count = 2 + upTo(10)
    while (start + count < surface.length && surface[start + count]?.depth !== 0) count += 1
    if (start + count > surface.length) return undefined
    return replaced('user/message', userData(`s-${String(seq)}`, [text(`Summary: ${prose(400)}`)]), start, count, {
      depth: 0,
    })
  }

  function* replacementsDue(): Generator<CodingStep> {
    while (replacements < seq * replacementRate) {
      const step = replacements % 2 === 0 ? (prune() ?? summarise()) : (summarise() ?? prune())
      if (step === undefined) return
      yield step
    }
  }

  /** Sizes as in real sessions: most results are short, a few are whole files. */
  const resultLength = (): number =>
    random() < 0.6 ? 20 + upTo(300) : random() < 0.9 ? 300 + upTo(3000) : 4000 + upTo(16_000)

  function* oneStep(): Generator<CodingStep> {
    const place = { turn, step }
    const calls = Array.from({ length: random() < 0.25 ? 2 + upTo(3) : random() < 0.85 ? 1 : 0 }, (_, at) =>
      toolCall(
        `call_${String(seq)}_${String(at)}`,
        ['read', 'bash', 'edit', 'grep'][upTo(4)],
        JSON.stringify({ path: prose(24) }),
      ),
    )
    const said = prose(40 + upTo(300))
    yield made('step/start', place)
    const requestSeq = seq
    yield made('request/start', { ...place, attempt: 1, throughSeq: seq - 1 })
    const data = assistantData(`m-${String(seq)}`, [text(said), ...calls], place)
    const stream = streamOf(said, calls, time)
    yield appended('assistant/message', {
      ...data,
      stream,
      usage: { inputTokens: 900 + upTo(90_000), outputTokens: 80 },
      requestSeq,
    })
    const recorded: number[] = []
    for (const { id, name, arguments: args } of calls) {
      recorded.push(seq)
      yield made('tool/call', { ...place, callId: id, name, arguments: args })
    }
    for (const [at, { id }] of calls.entries()) {
      const content = [text(prose(resultLength()))]
      yield appended('tool/result', resultData(`m-${String(seq)}`, id, content, place, random() < 0.06), at + 1, [
        recorded[at] ?? 0,
      ])
    }
    yield made('step/end', place)
  }

  function* whole(): Generator<CodingStep> {
    yield appended('system/message', systemData('m-0', [text(prose(2000))]))
    yield made('request/header', { header: { config: { provider: 'acme', model: 'acme-1' } }, reason: 'initial' })
    for (;;) {
      turn += 1
      step = 0
      yield made('turn/start', { turn })
      yield appended('user/message', userData(`m-${String(seq)}`, [text(prose(30 + upTo(200)))]))
      for (const steps = 1 + upTo(12); step < steps;) {
        step += 1
        yield* oneStep()
        yield* replacementsDue()
      }
      yield made('turn/end', { turn, reason: { kind: 'completed' } })
    }
  }

  for (const one of whole()) {
    if (one.event.seq >= events) return
    yield one
  }
}

/** The provider stream behind a message: one run of text deltas, one run per call, and the finish. */
function streamOf(said: string, calls: readonly ReturnType<typeof toolCall>[], time: number): AssistantStreamRecord[] {
  const texts = said.match(/[^]{1,24}/g) ?? []
  const gaps = (count: number): number[] => Array.from({ length: count - 1 }, (_, at) => (at * 7) % 40)
  return [
    { type: 'text-chunks', time0: time, index: 0, dt: gaps(texts.length), texts },
    ...calls.map(({ id, name, arguments: args }, at): AssistantStreamRecord => ({
      type: 'tool-call-chunks',
      time0: time + at,
      index: at + 1,
      dt: gaps(2),
      id,
      name,
      args: [args.slice(0, 8), args.slice(8)],
    })),
    { type: 'chunk', time: time + 9, chunk: { type: 'finish', reason: calls.length > 0 ? 'tool-calls' : 'stop' } },
  ]
}
