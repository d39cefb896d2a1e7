import { Session, SessionAcceptanceError } from '@palimpsest/session'
import type { CreateSessionOptions, SessionEvent, StoredSession } from '@palimpsest/session'
import { assistantData, resultData, systemData, text, toolCall, userData } from '@palimpsest/testkit'

/** Where the entries of `talk()` stand in its log. Its surface is head, user, calls, resultA, resultB, done. */
export const at = { head: 0, turn: 1, step: 2, user: 3, calls: 4, callA: 5, resultA: 6, resultB: 7, done: 8 } as const

/** Appends whatever it is given, as a caller without types would. */
export function add(session: Session, type: string, data: unknown, intent?: unknown): SessionEvent {
  return session.append(type as never, data as never, intent as never)
}

export const appended = { surfaceOp: 'append' } as const
export const replacing = (startSeq: number, endSeq: number, ...sourceEventSeqs: number[]): object => ({
  surfaceOp: { op: 'replace', startSeq, endSeq },
  ...(sourceEventSeqs.length === 0 ? {} : { sourceEventSeqs }),
})

export const say = (session: Session, words: string, intent: unknown = appended): SessionEvent =>
  add(session, 'user/message', userData(`u-${String(session.length)}`, [text(words)]), intent)
export const call = (session: Session, ...ids: string[]): SessionEvent =>
  add(
    session,
    'assistant/message',
    assistantData(
      `a-${String(session.length)}`,
      ids.map((id) => toolCall(id)),
    ),
    appended,
  )
export const reply = (session: Session, words: string): SessionEvent =>
  add(session, 'assistant/message', assistantData(`a-${String(session.length)}`, [text(words)]), appended)
export const answer = (session: Session, callId: string, words: string, intent: unknown = appended): SessionEvent =>
  add(session, 'tool/result', resultData(`r-${String(session.length)}`, callId, [text(words)]), intent)
export const prompt = (session: Session, words: string, intent: unknown = appended): SessionEvent =>
  add(session, 'system/message', systemData(`s-${String(session.length)}`, [text(words)]), intent)
export const record = (session: Session, callId: string): SessionEvent =>
  add(session, 'tool/call', { turn: 1, step: 1, callId, name: 'read', arguments: '{}' })
/** The data of the result at `seq` with other content. */
export function pruned(session: Session, seq: number, words: string): object {
  const data = structuredClone(session.eventAt(seq)?.data) as ReturnType<typeof resultData>
  const [block] = data.message.content
  return { ...data, message: { ...data.message, content: [{ ...block, content: [text(words)] }] } }
}

/** A session whose clock ticks in tens of milliseconds. */
export function fresh(options: CreateSessionOptions = {}): Session {
  let clock = 1000
  return Session.create({ id: 'talk', createdAt: 1000, now: () => (clock += 10), ...options })
}

/** A prompt, a user, a batch of two calls with their answers, and a closing word; turn and step still open. */
export function talk(options: CreateSessionOptions = {}): Session {
  const session = fresh(options)
  prompt(session, 'You are terse.')
  add(session, 'turn/start', { turn: 1 })
  add(session, 'step/start', { turn: 1, step: 1 })
  say(session, 'Fix it')
  call(session, 'a', 'b')
  record(session, 'a')
  answer(session, 'a', 'one', { ...appended, sourceEventSeqs: [at.callA] })
  answer(session, 'b', 'two')
  reply(session, 'done')
  return session
}

/** A session at rest, as plain JSON that nobody froze. */
export function stored(session: Session): StoredSession {
  const { header, events, inheritedEventCount } = session
  return JSON.parse(JSON.stringify({ header, events, inheritedEventCount })) as StoredSession
}

/** What an attempt was refused with. */
export function refusal(attempt: () => unknown): SessionAcceptanceError {
  try {
    attempt()
  } catch (error) {
    if (error instanceof SessionAcceptanceError) return error
    throw error
  }
  throw new Error('nothing was refused')
}
