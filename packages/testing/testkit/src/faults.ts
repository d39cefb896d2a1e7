import { assistantData, resultData, systemData, text, toolCall, userData } from './payloads.ts'
import type { Candidate, ReferenceSession } from './reference-session.ts'

/** Plants one fault in a candidate, or makes the faulty candidate outright. What results is judged by the reference. */
type Fault = (candidate: Candidate, session: ReferenceSession, pick: number) => Candidate

const withExtra =
  (make: () => unknown): Fault =>
  (candidate) => ({ ...candidate, data: { ...(candidate.data as object), extra: make() } })
const withIntent =
  (members: Record<string, unknown>): Fault =>
  (candidate) => ({ ...candidate, intent: { ...candidate.intent, ...members } })
const withMessage =
  (change: (message: Record<string, unknown>) => Record<string, unknown>): Fault =>
  (candidate) => {
    const data = candidate.data as Record<string, unknown>
    if (candidate.type === 'user/message') return { ...candidate, data: change(data) }
    const message = data['message'] as Record<string, unknown> | undefined
    return message === undefined
      ? { ...candidate, data: {} }
      : { ...candidate, data: { ...data, message: change(message) } }
  }

const append = { surfaceOp: 'append' }
const user = (content: readonly unknown[]): Candidate => ({
  type: 'user/message',
  data: userData('u', content as never),
  intent: append,
})
const assistant = (content: readonly unknown[]): Candidate => ({
  type: 'assistant/message',
  data: assistantData('a', content as never),
  intent: append,
})
const result = (callId: string, content: readonly unknown[] = []): Candidate => ({
  type: 'tool/result',
  data: resultData('r', callId, content as never),
  intent: append,
})
const at = <T>(list: readonly T[], pick: number): T | undefined => list[pick % list.length]

/** A replacement of the surface from one position to another, by a user message. */
function replacing(
  session: ReferenceSession,
  from: number,
  to: number,
  by: Candidate = user([text('summary')]),
): Candidate {
  const surface = session.surface()
  const cited = surface.slice(Math.min(from, to), Math.max(from, to) + 1)
  const surfaceOp = { op: 'replace', startSeq: surface[from] ?? 0, endSeq: surface[to] ?? 0 }
  return { ...by, intent: { surfaceOp, sourceEventSeqs: cited.length > 0 ? cited : [0] } }
}

function position(session: ReferenceSession, pick: number): number {
  return pick % Math.max(session.surface().length, 1)
}

const resultEntries = (session: ReferenceSession) => session.entries().filter(({ type }) => type === 'tool/result')

/** A rewrite of a result on the surface that changes more than its content. */
const rewriting =
  (change: (data: ReturnType<typeof resultData>) => object): Fault =>
  (candidate, session, pick) => {
    const target = at(resultEntries(session), pick)
    if (target === undefined) return candidate
    const surfaceOp = { op: 'replace', startSeq: target.seq, endSeq: target.seq }
    const data = change(target.data as ReturnType<typeof resultData>)
    return { type: 'tool/result', data, intent: { surfaceOp, sourceEventSeqs: [target.seq] } }
  }

function cyclic(): unknown {
  const knot: Record<string, unknown> = {}
  knot['self'] = [knot]
  return knot
}

const faults: Readonly<Record<string, Fault>> = {
  'undefined in data': withExtra(() => undefined),
  'NaN in data': withExtra(() => [Number.NaN]),
  'infinity in data': withExtra(() => -Infinity),
  'negative zero in data': withExtra(() => ({ n: -0 })),
  'bigint in data': withExtra(() => 1n),
  'function in data': withExtra(() => () => 1),
  'symbol in data': withExtra(() => Symbol('s')),
  'cycle in data': withExtra(cyclic),
  // eslint-disable-next-line no-sparse-arrays -- the hole is the fault
  'hole in data': withExtra(() => [1, , 2]),
  'date in data': withExtra(() => new Date(0)),
  'symbol key in data': withExtra(() => ({ [Symbol('s')]: 1 })),
  'hidden key in data': withExtra(() => Object.defineProperty({}, 'hidden', { value: 1 })),
  'named key on an array': withExtra(() => Object.assign([1], { extra: 1 })),

  'unknown type': (candidate) => ({ ...candidate, type: 'acme/unheard-of' }),
  'unknown type named as a prototype member': (candidate) => ({ ...candidate, type: 'constructor' }),
  'extra intent member': withIntent({ extra: 1 }),
  'undefined intent member': withIntent({ extra: undefined }),
  'ignorable known type': withIntent({ ignorable: true }),
  'no op': withIntent({ surfaceOp: undefined }),
  'op by another name': withIntent({ surfaceOp: 'prepend' }),
  'aliased range': withIntent({ surfaceOp: { op: 'replace', start: 0, end: 0 } }),
  'extra key in range': withIntent({ surfaceOp: { op: 'replace', startSeq: 0, endSeq: 0, why: 'x' } }),
  'half a range': withIntent({ surfaceOp: { op: 'replace', startSeq: 0 } }),
  'negative zero in range': withIntent({ surfaceOp: { op: 'replace', startSeq: -0, endSeq: 0 }, sourceEventSeqs: [0] }),
  'fraction in range': withIntent({ surfaceOp: { op: 'replace', startSeq: 0.5, endSeq: 1 }, sourceEventSeqs: [0] }),
  'op on a log-only event': () => ({ type: 'turn/start', data: { turn: 1 }, intent: append }),
  'sources on a log-only event': () => ({ type: 'turn/start', data: { turn: 1 }, intent: { sourceEventSeqs: [0] } }),
  'empty sources': withIntent({ sourceEventSeqs: [] }),
  'sources that are no array': withIntent({ sourceEventSeqs: 0 }),
  'sources that are no seqs': withIntent({ sourceEventSeqs: ['0'] }),
  'negative zero in sources': withIntent({ sourceEventSeqs: [-0] }),
  'repeated source': withIntent({ sourceEventSeqs: [0, 0] }),
  'source of the first event': withIntent({ sourceEventSeqs: [0] }),
  'source of itself': (candidate, session) =>
    withIntent({ sourceEventSeqs: [session.log.length] })(candidate, session, 0),
  'assistant with sources': () => ({ ...assistant([text('hi')]), intent: { ...append, sourceEventSeqs: [0] } }),
  'assistant in place of a range': (_, session, pick) => {
    const from = position(session, pick)
    return replacing(session, from, from, assistant([text('hi')]))
  },

  'range of any size': (_, session, pick) => replacing(session, position(session, pick), position(session, pick >> 3)),
  'one entry, whatever it is': (_, session, pick) =>
    replacing(session, position(session, pick), position(session, pick)),
  'all of the surface': (_, session) => replacing(session, 0, session.surface().length - 1),
  'all of the surface by a system message': (_, session) =>
    replacing(session, 0, session.surface().length - 1, { type: 'system/message', data: systemData('s', []) }),
  'head by a user message': (_, session) => replacing(session, 0, 0),
  'reversed range': (_, session, pick) => {
    const from = position(session, pick)
    return replacing(session, from, Math.max(from - 1 - (pick % 3), 0))
  },
  'one source too few': (candidate, session, pick) => {
    const cited = candidate.intent?.['sourceEventSeqs']
    const whole = Array.isArray(cited) && cited.length > 1 ? candidate : replacing(session, 1, 3)
    const sources = whole.intent?.['sourceEventSeqs'] as number[]
    const short = sources.filter((_, index) => index !== pick % sources.length)
    return { ...whole, intent: { ...whole.intent, sourceEventSeqs: short.length > 0 ? short : [0] } }
  },
  'end that left the surface': (_, session, pick) => {
    const surface = session.surface()
    const gone = at(
      session.log.map(({ seq }) => seq).filter((seq) => !surface.includes(seq)),
      pick,
    )
    const surfaceOp = { op: 'replace', startSeq: gone ?? 0, endSeq: surface.at(-1) ?? 0 }
    return { ...user([]), intent: { surfaceOp, sourceEventSeqs: session.log.map(({ seq }) => seq) } }
  },
  'end in the future': (_, session) => ({
    ...user([]),
    intent: { surfaceOp: { op: 'replace', startSeq: 0, endSeq: session.log.length + 5 }, sourceEventSeqs: [0] },
  }),
  'result in place of any entry': (_, session, pick) => {
    const from = position(session, pick)
    return replacing(session, from, from, result('call_1'))
  },
  'result in place of its whole pair': (_, session, pick) => {
    const target = at(resultEntries(session), pick)
    if (target === undefined) return result('call_1')
    const end = session.surface().indexOf(target.seq)
    return replacing(session, Math.max(end - 1, 0), end, { type: 'tool/result', data: target.data })
  },
  'result rewritten under another call': rewriting(({ message, ...rest }) => {
    const other = resultData(message.id, 'call_other', [])
    return { ...rest, message: other.message }
  }),
  'result rewritten with another id': rewriting((data) => ({ ...data, message: { ...data.message, id: 'other' } })),
  'result rewritten with meta': rewriting((data) => ({ ...data, meta: { truncated: true } })),
  'result rewritten in another turn': rewriting((data) => ({ ...data, turn: data.turn + 1 })),
  'result rewritten as another outcome': rewriting((data) => {
    const [block] = data.message.content
    const content = [{ ...block, isError: block.isError !== true }]
    const { error: _, ...rest } = data
    return { ...rest, message: { ...data.message, content } }
  }),
  'result rewritten to itself': rewriting((data) => data),

  'answer to nobody': () => result('call_nobody'),
  'answer to any id': (_, __, pick) =>
    result(['call_1', 'call_2', 'toolu_01', 'constructor', '__proto__'][pick % 5] ?? 'x'),
  'second answer': (candidate, session, pick) => {
    const target = at(resultEntries(session), pick)
    return target === undefined ? candidate : { type: 'tool/result', data: target.data, intent: append }
  },
  'one id twice in a batch': () => assistant([toolCall('twin'), text('and'), toolCall('twin')]),
  'user message at any time': () => user([text('are you there?')]),
  'assistant message at any time': () => assistant([toolCall('call_1')]),
  'system message at any time': () => ({
    type: 'system/message',
    data: systemData('s', [text('rule')]),
    intent: append,
  }),

  'role of another': withMessage((message) => ({
    ...message,
    role: message['role'] === 'user' ? 'assistant' : 'user',
  })),
  'source of another': withMessage((message) => ({ ...message, source: { kind: 'tool', callId: 'call_other' } })),
  'source without kind': withMessage((message) => ({ ...message, source: {} })),
  'empty message id': withMessage((message) => ({ ...message, id: '' })),
  'content that is no array': withMessage((message) => ({ ...message, content: 'hello' })),
  'block without type': withMessage((message) => ({ ...message, content: [{ text: 'hello' }] })),
  'turn zero': (candidate) => ({ ...candidate, data: { ...(candidate.data as object), turn: 0 } }),
  'data that is an array': (candidate) => ({ ...candidate, data: [] }),
  'empty data': (candidate) => ({ ...candidate, data: {} }),
  'two blocks in a result': () => {
    const data = resultData('r', 'call_1', [])
    return {
      ...result('call_1'),
      data: { ...data, message: { ...data.message, content: [...data.message.content, text('x')] } },
    }
  },
  'call by a user': () => user([toolCall('call_1')]),
  'reasoning by a user': () => user([{ type: 'reasoning', text: 'hm' }]),
  'call deep in a user message': () =>
    user([{ type: 'acme/box', content: [{ type: 'acme/box', content: [toolCall('call_1')] }] }]),
  'answer deep in a user message': () =>
    user([{ type: 'text', text: 'x', content: [{ type: 'tool-result', toolCallId: 'x', content: [] }] }]),
  'foreign block by the assistant': () => assistant([{ type: 'acme/box' }]),
  'call inside a block of the assistant': () => assistant([{ type: 'text', text: 'x', content: [toolCall('call_1')] }]),
  'image in a system message': () => ({
    type: 'system/message',
    data: systemData('s', [
      { type: 'image', attachment: { attachmentId: `sha256:${'0'.repeat(64)}`, mediaType: 'image/png', bytes: 1 } },
    ] as never),
    intent: append,
  }),
  'reasoning in a result': () => result('call_1', [{ type: 'reasoning', text: 'hm' }]),
  'answer inside an answer': () => result('call_1', [{ type: 'tool-result', toolCallId: 'call_1', content: [] }]),
  'error without isError': () => ({
    ...result('call_1'),
    data: { ...resultData('r', 'call_1', []), error: { name: 'Error', code: 'E' } },
  }),
  'system prompt in a header': () => header({ system: 'You are terse.' }),
  'no tools, said as an empty list': () => header({ tools: [] }),
  'no defaults, said as an empty object': () => header({ adapterDefaults: {} }),
}

const header = (members: object): Candidate => ({
  type: 'request/header',
  data: { header: { config: { provider: 'acme', model: 'acme-1' }, ...members }, reason: 'initial' },
})

/** The names of all faults. */
export const faultNames: readonly string[] = Object.keys(faults)

/** Plants the named fault. Throws `RangeError` for a name that is not in `faultNames`. */
export function plantFault(name: string, candidate: Candidate, session: ReferenceSession, pick: number): Candidate {
  const fault = faults[name]
  if (fault === undefined) throw new RangeError(`there is no fault named ${name}`)
  return fault(candidate, session, pick)
}
