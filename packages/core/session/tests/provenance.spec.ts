import { explain } from '@palimpsest/session'
import type { SessionEvent } from '@palimpsest/session'
import { anyCommands } from '@palimpsest/testkit'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Run } from './model/driver.ts'
import { add, at, fresh, pruned, replacing, say, talk } from './sessions.ts'

describe('explain', () => {
  it('gives an appended entry its own seq as origin, and a log-only event none', () => {
    const { events } = talk()
    expect(explain(events, at.resultA)).toEqual({
      seq: at.resultA,
      onSurface: true,
      shadows: [],
      cites: [at.callA],
      origins: [at.resultA],
    })
    expect(explain(events, at.turn)).toEqual({ seq: at.turn, onSurface: false, shadows: [], cites: [], origins: [] })
  })

  it('follows a replacement to the events it stands for, in surface order, through any depth', () => {
    const session = talk()
    add(
      session,
      'tool/result',
      pruned(session, at.resultA, 'cut'),
      replacing(at.resultA, at.resultA, at.resultA, at.callA),
    )
    const { calls, resultA, resultB, done, user } = at
    say(session, 'summary', replacing(calls, done, calls, done + 1, resultB, done))
    say(session, 'all', replacing(user, done + 2, done + 2, user))
    expect(explain(session.events, done + 3)).toEqual({
      seq: done + 3,
      onSurface: true,
      shadows: [user, done + 2],
      cites: [done + 2, user],
      origins: [user, calls, resultA, resultB, done],
    })
    expect(explain(session.events, resultA)).toMatchObject({
      onSurface: false,
      shadowedBy: done + 1,
      origins: [resultA],
    })
    expect(explain(session.events, done + 1)).toMatchObject({
      onSurface: false,
      shadowedBy: done + 2,
      shadows: [resultA],
    })
  })

  it('treats an ignorable event of unknown type as log-only, whatever it carries', () => {
    const session = talk()
    add(session, 'acme/note', {}, { ignorable: true, surfaceOp: 'append', sourceEventSeqs: [0] })
    expect(explain(session.events, at.done + 1)).toEqual({
      seq: at.done + 1,
      onSurface: false,
      shadows: [],
      cites: [],
      origins: [],
    })
  })

  it.each([-1, at.done + 1, 0.5, Number.NaN])('throws RangeError for seq %d', (seq) => {
    expect(() => explain(talk().events, seq)).toThrow(RangeError)
  })

  it('explains a summary of two hundred thousand entries', () => {
    const count = 200_000
    const session = fresh()
    const template = say(session, 'x')
    const events = Array.from({ length: count }, (_, seq) => ({ ...template, seq }) as SessionEvent)
    const sourceEventSeqs = events.map(({ seq }) => seq)
    const surfaceOp = { op: 'replace', startSeq: 0, endSeq: count - 1 }
    const all = { ...template, seq: count, surfaceOp, sourceEventSeqs } as unknown as SessionEvent
    expect(explain([...events, all], count).origins.length).toBe(count)
  })

  it('covers: the origins over the surface are the appended surface events of the log, each once', () => {
    const property = fc.property(anyCommands, (commands) => {
      const { session, reference } = new Run({}).execute(commands)
      const origins = session.surface.nodes.flatMap((seq) => explain(session.events, seq).origins)
      const appended = session.events.filter(({ surfaceOp }) => surfaceOp === 'append').map(({ seq }) => seq)
      const known = appended.filter((seq) => session.eventAt(seq)?.type !== ('acme/note' as string))
      expect(origins.toSorted((one, other) => one - other)).toEqual(known)
      for (const { seq } of session.events) {
        const { shadows, onSurface, shadowedBy } = explain(session.events, seq)
        expect(shadows).toEqual(reference.shadows(seq))
        expect(onSurface).toBe(reference.surface().includes(seq))
        if (shadowedBy !== undefined) expect(reference.shadows(shadowedBy)).toContain(seq)
      }
    })
    fc.assert(property, { numRuns: 30 })
  })
})
