import { expect, it } from 'vitest'
import { Session } from '@palimpsest/session'
import type { AssistantMessage, SessionEvent, SessionSeq, UserMessage } from '@palimpsest/session'
import { intactThrough } from '../src/index.ts'
import { text, thinking, user } from './fixtures/messages.ts'

const place = { turn: 1, step: 1 }
const append = { surfaceOp: 'append' } as const

/** A session whose events can be counted as they are read. */
function counted(session: Session): { log: Parameters<typeof intactThrough>[0]; reads: () => number } {
  let reads = 0
  const log = {
    get events(): readonly SessionEvent[] {
      return new Proxy(session.events, {
        get(target, name): unknown {
          if (typeof name === 'string' && /^\d+$/.test(name)) reads += 1
          return Reflect.get(target, name) as unknown
        },
      })
    },
    surface: session.surface,
  }
  const taken = (): number => {
    const count = reads
    reads = 0
    return count
  }
  return { log, reads: taken }
}

function exchange(session: Session): void {
  session.append('user/message', user() as UserMessage, append)
  const message = thinking([text('so')]) as AssistantMessage
  session.append('assistant/message', { ...place, message, stream: [] }, append)
}

it('a request of a session of 10,000 messages reads what is new in the log, and nothing else', () => {
  const session = Session.create()
  session.append('request/header', { header: { config: { provider: 'anthropic', model: 'm' } }, reason: 'initial' })
  for (let turn = 0; turn < 5000; turn += 1) exchange(session)
  const { log, reads } = counted(session)
  expect(intactThrough(log)).toBe(10_000)
  expect(reads()).toBeGreaterThan(10_000)
  let most = 0
  for (let turn = 1; turn <= 100; turn += 1) {
    exchange(session)
    expect(intactThrough(log)).toBe(10_000 + 2 * turn)
    most = Math.max(most, reads())
  }
  expect(most).toBeLessThan(10)
  intactThrough(log)
  expect(reads()).toBeLessThan(3)
})

it('after a replacement the surface is read again, once', () => {
  const session = Session.create()
  for (let turn = 0; turn < 500; turn += 1) exchange(session)
  const { log, reads } = counted(session)
  expect(intactThrough(log)).toBe(1000)
  reads()
  const surfaceOp = { op: 'replace', startSeq: 0 as SessionSeq, endSeq: 0 as SessionSeq } as const
  session.append('user/message', user() as UserMessage, { surfaceOp, sourceEventSeqs: [0 as SessionSeq] })
  expect(intactThrough(log)).toBe(1)
  // The first entry is new and the first signature after it is broken: there is no more to read.
  expect(reads()).toBeLessThan(10)
  exchange(session)
  expect(intactThrough(log)).toBe(1)
  expect(reads()).toBeLessThan(10)
})

it('a log that is another one than before is read anew', () => {
  const [one, other] = [Session.create(), Session.create()]
  for (const session of [one, other]) exchange(session)
  exchange(other)
  const log = { events: one.events, surface: one.surface }
  expect(intactThrough(log)).toBe(2)
  const swapped = Object.assign(log, { events: other.events, surface: other.surface })
  expect(intactThrough(swapped)).toBe(4)
  Object.assign(log, { events: one.events, surface: one.surface })
  expect(intactThrough(log)).toBe(2)
})

it('a log that each request hands over by an object of its own is read once, as it stood for each', () => {
  const session = Session.create()
  for (let turn = 0; turn < 500; turn += 1) exchange(session)
  let reads = 0
  const standing = (): Parameters<typeof intactThrough>[0] => {
    const { length } = session
    const eventAt = (seq: number): SessionEvent | undefined => {
      reads += 1
      return seq < length ? session.eventAt(seq) : undefined
    }
    return { length, eventAt, surface: { nodes: [...session.surface.nodes] } }
  }
  expect(intactThrough(standing())).toBe(1000)
  const before = standing()
  exchange(session)
  reads = 0
  expect(intactThrough(before)).toBe(1000)
  expect(intactThrough(standing())).toBe(1002)
  expect(reads).toBeLessThan(12)
  expect(intactThrough(before)).toBe(1000)
})
