import {
  deriveEventMessage,
  deriveMessagesAt,
  foldSurface,
  Session,
  SurfaceManager,
  surfaceAt,
} from '@palimpsest/session'
import type { EventLog, SessionEvent, SurfaceChange } from '@palimpsest/session'
import { codingSession } from '@palimpsest/testkit'
import { describe, expect, it } from 'vitest'
import { add, at, fresh, prompt, refusal, replacing, say, stored, talk } from './sessions.ts'

/** A log that counts how often its events are asked for. */
class CountedLog implements EventLog {
  readonly events: SessionEvent[]
  asked = 0

  constructor(events: Iterable<SessionEvent>) {
    this.events = [...events]
  }

  get length(): number {
    return this.events.length
  }

  eventAt(seq: number): SessionEvent | undefined {
    this.asked += 1
    return this.events[seq]
  }
}

/** The next event after `talk()`, as if it had been accepted: a summary of everything but the head. */
function summary(): SessionEvent {
  const session = talk()
  return say(session, 'all', replacing(at.user, at.done, at.user, at.calls, at.resultA, at.resultB, at.done))
}

describe('a surface manager', () => {
  it('folds any log that has a length and events, each event once', () => {
    const log = new CountedLog(talk().events)
    const manager = new SurfaceManager(log)
    expect(manager.nodes).toEqual([at.head, at.user, at.calls, at.resultA, at.resultB, at.done])
    expect(log.asked).toBe(log.length)
    expect([manager.nodes.length, manager.replaceGeneration]).toEqual([6, 0])
    expect(log.asked).toBe(log.length)
    log.events.push(summary())
    expect(manager.nodes).toEqual([at.head, at.done + 1])
    expect(manager.replaceGeneration).toBe(1)
  })

  it('judges without changing anything, and applies a plan only to the event that the log holds next', () => {
    const log = new CountedLog(talk().events)
    const heard: SurfaceChange[] = []
    const manager = new SurfaceManager(log, (change) => heard.push(change))
    const before = [...manager.nodes]
    const event = summary()
    const vetoed = manager.validateNext(event)
    expect(vetoed).toMatchObject({ kind: 'replace', start: 1, end: 5 })
    manager.commit(vetoed)
    expect(manager.nodes).toEqual(before)

    const equal = summary()
    const plan = manager.validateNext(equal)
    log.events.push(equal)
    manager.commit(vetoed)
    expect(heard.at(-1)?.event).not.toBe(event)
    manager.commit(plan)
    manager.commit(plan)
    expect(manager.nodes).toEqual([at.head, at.done + 1])
    expect(manager.replaceGeneration).toBe(1)
    expect(heard.filter(({ kind }) => kind === 'replace').map((one) => one.event)).toEqual([equal])
  })
})

describe('the message of an event', () => {
  it('is the log’s own object, and null for an event that makes none', () => {
    const session = talk()
    const speaking: number[] = [at.head, at.user, at.calls, at.resultA, at.resultB, at.done]
    for (const event of session.events) {
      const data = event.data as { message?: unknown }
      const message = speaking.includes(event.seq) ? (data.message ?? data) : null
      expect(deriveEventMessage(event)).toBe(message)
    }
  })
})

describe('a detached fold', () => {
  const events = (): SessionEvent[] => [...stored(talk()).events]
  const changed = (seq: number, change: object): SessionEvent[] =>
    events().map((event) => (event.seq === seq ? { ...event, ...change } : event))

  it.each<[string, string, () => SessionEvent[]]>([
    ['a gap', 'envelope/seq', () => events().slice(1)],
    ['a surface event without an op', 'surface/missing-op', () => changed(at.user, { surfaceOp: undefined })],
    ['a log-only event with an op', 'surface/forbidden', () => changed(at.turn, { surfaceOp: 'append' })],
    [
      'an unknown event with an op',
      'surface/forbidden',
      () => changed(at.turn, { type: 'acme/x', surfaceOp: 'append' }),
    ],
    ['an alias', 'surface/invalid-op', () => changed(at.done, { surfaceOp: { op: 'replace', start: 0, end: 0 } })],
    ['a source of the future', 'sources/invalid', () => changed(at.user, { sourceEventSeqs: [at.done] })],
    [
      'a reversed range',
      'replace/reversed',
      () => [...events(), { ...summary(), ...replacing(at.done, at.user, at.done) }],
    ],
    [
      'an uncovered range',
      'sources/uncovered',
      () => [...events(), { ...summary(), sourceEventSeqs: [at.user] } as unknown as SessionEvent],
    ],
  ])('refuses %s', (_, code, make) => {
    expect(refusal(() => foldSurface(make())).code).toBe(code)
  })

  it('passes over an ignorable event of unknown type, whatever it carries', () => {
    const odd = changed(at.turn, { type: 'acme/x', ignorable: true, surfaceOp: 'sideways' })
    expect(foldSurface(odd).nodes).toEqual(talk().surface.nodes)
  })

  it('holds a core type to its place, ignorable or not, and takes -0 for no seq', () => {
    const marked = changed(at.turn, { ignorable: true, surfaceOp: 'append' })
    expect(refusal(() => foldSurface(marked)).code).toBe('surface/forbidden')
    expect(refusal(() => foldSurface(changed(at.head, { seq: -0 }))).code).toBe('envelope/seq')
  })

  it('agrees with a session that kept unknown events, whatever they cite', () => {
    const odd = changed(at.turn, { type: 'acme/x', sourceEventSeqs: [at.head], extra: 1 })
    const session = Session.restore({ ...stored(talk()), events: odd }, { unknown: 'keep' })
    expect(foldSurface(session.events).nodes).toEqual(session.surface.nodes)
  })

  it('passes over an event of unknown type that a restore may keep: one without a place on the surface', () => {
    expect(foldSurface(changed(at.turn, { type: 'acme/x' })).nodes).toEqual(talk().surface.nodes)
  })

  it('of no events is empty', () => {
    expect(foldSurface([])).toEqual({ nodes: [], replacements: [] })
    expect(surfaceAt([], -1)).toEqual([])
    expect(deriveMessagesAt([], -1)).toEqual([])
  })

  it.each([-2, at.done + 1, 1.5, Number.NaN])('of a prefix throws RangeError for seq %d', (seq) => {
    expect(() => surfaceAt(talk().events, seq)).toThrow(RangeError)
    expect(() => deriveMessagesAt(talk().events, seq)).toThrow(RangeError)
  })
})

describe('the surface of a long session', () => {
  it('agrees with the fold over thousands of events with replacements of every kind', () => {
    const steps = [...codingSession({ seed: 21, events: 4000, replacementRate: 0.05 })]
    const session = fresh()
    for (const { type, data, intent } of steps) add(session, type, data, intent)
    const folded = foldSurface(session.events)
    expect(session.surface.nodes).toEqual(folded.nodes)
    expect(session.surface.replaceGeneration).toBe(folded.replacements.length)
    expect(session.deriveMessages()).toEqual(deriveMessagesAt(session.events, session.length - 1))
    const again = Session.restore(stored(session))
    expect(again.surface.nodes).toEqual(folded.nodes)
  })
})

describe('a session and its surface', () => {
  it('are told apart from a rule that was broken by what stands there now', () => {
    const session = talk()
    prompt(session, 'new', replacing(at.head, at.head, at.head))
    const error = refusal(() => prompt(session, 'newer', replacing(at.head, at.head, at.head)))
    expect(error.code).toBe('replace/not-on-surface')
    expect(error.message).toContain(`entry ${String(at.done + 1)}`)
  })
})
