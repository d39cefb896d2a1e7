import type { AssistantBlock, Message, ResultContentBlock, UserBlock } from '@palimpsest/session'
import { callIdPool } from './arbitraries.ts'
import type { Step } from './commands.ts'
import { assistantData, resultData, systemData, toolCall, userData } from './payloads.ts'
import {
  answerOf,
  callsOf,
  type Candidate,
  memberOf,
  type ReferenceEvent,
  type ReferenceSession,
} from './reference-session.ts'

/**
 * Turns a step into the event that it means in this state. A step that the state does not allow becomes the nearest
 * one that it does: while calls are open anything else is an answer, and a prune without results is a user message.
 */
export function candidateFor(step: Step, session: ReferenceSession): Candidate {
  const open = session.openCalls()
  const [head] = session.entries()
  if (session.log.length === 0 && step.pick % 3 > 0)
    return headAppend(session, [{ type: 'text', text: 'You are terse.' }])
  switch (step.what) {
    case 'opaque':
      return { type: 'acme/note', data: { extra: step.extra }, intent: { ignorable: true } }
    case 'log':
      return logOnly(session, step.pick)
    case 'structure':
      return structure(session, open, step.pick)
    case 'prune':
      return prune(session, step) ?? otherwise(session, step)
    case 'summary':
      return summary(session, step) ?? otherwise(session, step)
    case 'head':
      if (head?.type === 'system/message') return headSwap(session, head, step.content)
      return open.length === 0 ? headAppend(session, step.content) : otherwise(session, step)
    case 'assistant':
      return open.length === 0 ? assistant(session, step) : otherwise(session, step)
    default:
      return otherwise(session, step)
  }
}

const append = { surfaceOp: 'append' }
const nextId = ({ log }: ReferenceSession, pick: number): string => (pick % 7 === 0 ? 'm' : `m-${String(log.length)}`)
const place = (session: ReferenceSession): { turn: number; step: number } => {
  const { turn, step } = session.position()
  return { turn: turn ?? 1, step: step ?? 1 }
}
const replaceOf = (range: readonly number[], others: readonly number[] = []): Record<string, unknown> => ({
  surfaceOp: { op: 'replace', startSeq: range[0], endSeq: range.at(-1) },
  sourceEventSeqs: [...new Set([...range, ...others])],
})

/** An answer while calls are open, else a user message. */
function otherwise(session: ReferenceSession, step: Step): Candidate {
  const open = session.openCalls()
  const content = 'content' in step ? step.content : []
  const callId = open[step.pick % open.length]
  const id = nextId(session, step.pick)
  if (callId === undefined) return { type: 'user/message', data: userData(id, content as UserBlock[]), intent: append }
  const call = session.log.findLast((event) => event.type === 'tool/call' && memberOf(event, 'callId') === callId)
  const answer = content.filter((block): block is ResultContentBlock => block.type === 'text' || block.type === 'image')
  const data = resultData(id, callId, answer, place(session), step.size > 6)
  const withError = step.size > 7 ? { ...data, error: { name: 'Error', code: 'E_TOOL' } } : data
  const cites = call === undefined ? {} : { sourceEventSeqs: [call.seq] }
  return { type: 'tool/result', data: withError, intent: { ...append, ...cites } }
}

function assistant(session: ReferenceSession, step: Step & { readonly prose: readonly AssistantBlock[] }): Candidate {
  const count = [0, 1, 1, 2, 2, 3, 1, 0, 2, 4][step.size] ?? 1
  const calls = Array.from({ length: count }, (_, at) =>
    toolCall(callIdPool[(step.pick + at) % callIdPool.length] ?? 'x'),
  )
  const content = step.pick % 2 === 0 ? [...step.prose, ...calls] : [...calls, ...step.prose]
  return {
    type: 'assistant/message',
    data: assistantData(nextId(session, step.pick), content, place(session)),
    intent: append,
  }
}

function headAppend(session: ReferenceSession, content: Parameters<typeof systemData>[1]): Candidate {
  return { type: 'system/message', data: systemData(nextId(session, 1), content, place(session)), intent: append }
}

function headSwap(
  session: ReferenceSession,
  head: ReferenceEvent,
  content: Parameters<typeof systemData>[1],
): Candidate {
  const data = systemData(nextId(session, 1), content, place(session))
  return { type: 'system/message', data, intent: replaceOf([head.seq]) }
}

function structure(session: ReferenceSession, open: readonly string[], pick: number): Candidate {
  const { turn, step } = session.position()
  const last = (type: string, key: string): number => {
    const event = session.log.findLast((candidate) => candidate.type === type)
    return event === undefined ? 0 : (memberOf(event, key) as number)
  }
  const callId = open[pick % open.length]
  if (callId !== undefined) {
    return { type: 'tool/call', data: { ...place(session), callId, name: 'read', arguments: '{"path":"a.ts"}' } }
  }
  if (turn === undefined) return { type: 'turn/start', data: { turn: last('turn/start', 'turn') + 1 } }
  if (step !== undefined) return { type: 'step/end', data: { turn, step } }
  if (pick % 4 === 0) return { type: 'turn/end', data: { turn, reason: { kind: 'completed' } } }
  return { type: 'step/start', data: { turn, step: last('step/start', 'step') + 1 } }
}

function logOnly(session: ReferenceSession, pick: number): Candidate {
  const at = place(session)
  const config = { provider: 'acme', model: 'acme-1' }
  const throughSeq = session.log.length - 1
  const choices: Candidate[] = [
    { type: 'request/header', data: { header: { config }, reason: 'initial' } },
    { type: 'request/context', data: { provider: 'acme', model: 'acme-1', contextWindow: 200_000 } },
    { type: 'tool/progress', data: { ...at, callId: 'call_1', content: [{ type: 'text', text: '50 %' }] } },
    { type: 'tool/late-result', data: { ...at, callId: 'call_1', content: [] } },
    { type: 'assistant/attempt', data: { ...at, stream: [], failure: 'overloaded' } },
    { type: 'request/start', data: { ...at, attempt: 1, throughSeq: Math.max(throughSeq, 0) } },
  ]
  return choices[pick % choices.length] as Candidate
}

/** Rewrites the content of one result that stands on the surface. */
function prune(
  session: ReferenceSession,
  step: Step & { readonly content: readonly unknown[] },
): Candidate | undefined {
  const results = session.entries().filter(({ type }) => type === 'tool/result')
  const target = results[step.pick % results.length]
  if (target === undefined) return undefined
  const { message, ...rest } = target.data as { readonly message: Message }
  const data = { ...rest, message: { ...message, content: [{ ...message.content[0], content: step.content }] } }
  const others = step.size > 6 ? [0] : []
  return { type: 'tool/result', data, intent: replaceOf([target.seq], others) }
}

/** The ranges from `start` that a summary may take: as many calls opened as answered, and the head left alone. */
function balancedEnds(entries: readonly ReferenceEvent[], start: number): number[] {
  const ends: number[] = []
  if (start === 0 && entries[0]?.type === 'system/message') return ends
  let open: string[] = []
  for (let at = start; at < entries.length; at++) {
    const entry = entries[at] as ReferenceEvent
    const answer = answerOf(entry)
    if (answer !== undefined && !open.includes(answer)) return ends
    open = answer === undefined ? [...open, ...callsOf(entry)] : open.filter((id) => id !== answer)
    if (open.length === 0) ends.push(at)
  }
  return ends
}

function summary(
  session: ReferenceSession,
  step: Step & { readonly content: readonly UserBlock[] },
): Candidate | undefined {
  const entries = session.entries()
  const surface = session.surface()
  for (let tried = 0; tried < entries.length; tried++) {
    const start = (step.pick + tried) % entries.length
    const ends = balancedEnds(entries, start).slice(0, 4)
    const end = ends[step.size % ends.length]
    if (end === undefined) continue
    const id = nextId(session, step.pick)
    const intent = replaceOf(surface.slice(start, end + 1))
    if (step.size === 9) {
      return {
        type: 'system/message',
        data: systemData(id, [{ type: 'text', text: 'Earlier rules.' }], place(session)),
        intent,
      }
    }
    return { type: 'user/message', data: userData(id, step.content), intent }
  }
  return undefined
}
