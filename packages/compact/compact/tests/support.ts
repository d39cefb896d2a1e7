import {
  type CreateSessionOptions,
  type Message,
  type SessionEvent,
  Session,
  coreEvents,
  sessionSeq,
  type SessionSeq,
} from '@palimpsest/session'
import { type Summarize, compactionEvents } from '@palimpsest/compact'
import { assistantData, resultData, systemData, text, toolCall, userData } from '@palimpsest/testkit'

export const vocabulary = coreEvents.extend(compactionEvents)
export const appended = { surfaceOp: 'append' } as const

/** Appends what types would not let through as easily. */
export const add = (session: Session, type: string, data: object, intent?: unknown): SessionEvent =>
  session.append(type as never, data as never, intent as never)

export const say = (session: Session, words: string, intent: unknown = appended): SessionSeq =>
  add(session, 'user/message', userData(`u-${session.length}`, [text(words)]), intent).seq
export const reply = (session: Session, words: string): SessionSeq =>
  add(session, 'assistant/message', assistantData(`a-${session.length}`, [text(words)]), appended).seq
export const call = (session: Session, ...ids: string[]): SessionSeq =>
  add(
    session,
    'assistant/message',
    assistantData(
      `a-${session.length}`,
      ids.map((id) => toolCall(id)),
    ),
    appended,
  ).seq
export const answer = (session: Session, callId: string, words = 'a long answer of a tool, as they are'): SessionSeq =>
  add(session, 'tool/result', resultData(`r-${session.length}`, callId, [text(words)]), appended).seq
export const prompt = (session: Session, words: string): SessionSeq =>
  add(session, 'system/message', systemData(`s-${session.length}`, [text(words)]), appended).seq

export const replacing = (seqs: readonly number[]): object => ({
  surfaceOp: { op: 'replace', startSeq: seqs[0], endSeq: seqs.at(-1) },
  sourceEventSeqs: seqs,
})

/** A session that knows compaction and whose clock ticks in tens of milliseconds. */
export function fresh(options: CreateSessionOptions = {}): Session {
  let clock = 1000
  return Session.create({ id: 'talk', createdAt: 1000, now: () => (clock += 10), vocabulary, ...options })
}

/** Head, user, a batch of two calls with answers, an assistant, a user: seqs 0 to 6. */
export function talk(options: CreateSessionOptions = {}): Session {
  const session = fresh(options)
  prompt(session, 'You are terse.')
  say(session, 'Fix the failing test in the parser, please, and tell me what it was.')
  call(session, 'a', 'b')
  answer(session, 'a')
  answer(session, 'b')
  reply(session, 'The parser dropped the last token of a line that ended in a comment.')
  say(session, 'Thanks. Now the other one.')
  return session
}

export const range = (startSeq: number, endSeq: number): { startSeq: SessionSeq; endSeq: SessionSeq } => ({
  startSeq: sessionSeq(startSeq),
  endSeq: sessionSeq(endSeq),
})

/** Characters of all text: what tests count in. */
export const measure = (messages: readonly Message[]): number =>
  JSON.stringify(messages.map(({ content }) => content)).length

export const short: Summarize = () => ({ text: 'S' })
export const bare = { trigger: 'manual', measure, frame: (words: string): string => words } as const

export const typesOf = (session: Session): string[] => session.events.map(({ type }) => type)
export const nodesOf = (session: Session): readonly number[] => [...session.surface.nodes]

/** A promise and what settles it. */
export function deferred<Value>(): {
  readonly promise: Promise<Value>
  readonly resolve: (value: Value) => void
  readonly reject: (error: unknown) => void
} {
  let settle: readonly [(value: Value) => void, (error: unknown) => void] | undefined
  const promise = new Promise<Value>((resolve, reject) => (settle = [resolve, reject]))
  return { promise, resolve: (value) => settle?.[0](value), reject: (error) => settle?.[1](error) }
}

/** A summariser that answers when told to. */
export function held(): {
  readonly summarize: Summarize
  readonly answer: (text: string) => void
  readonly fail: (error: unknown) => void
} {
  const { promise, resolve, reject } = deferred<{ text: string }>()
  return { summarize: () => promise, answer: (words) => resolve({ text: words }), fail: reject }
}
