import {
  acceptanceCodes,
  coreEvents,
  defineEvents,
  foldSurface,
  Session,
  SessionAcceptanceError,
  SessionError,
} from '@palimpsest/session'
import type { SessionEvent } from '@palimpsest/session'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { next } from './acceptance/case.ts'
import { eventCases } from './acceptance/events.ts'
import { placementCases } from './acceptance/placement.ts'
import { refusal, stored, talk } from './sessions.ts'

const cases = [...eventCases, ...placementCases]
const noticing = defineEvents(
  { 'acme/note': z.looseObject({ text: z.string() }), 'acme/old': z.looseObject({}) },
  { retired: ['acme/old'] },
)
const vocabulary = coreEvents.extend(noticing)

describe('acceptance', () => {
  it('has a case for every code', () => {
    expect(new Set(cases.map(({ code }) => code))).toEqual(new Set(Object.keys(acceptanceCodes)))
  })

  describe.each(cases)('$code: $rule', ({ code, seq, refused, accepted }) => {
    it('is refused with the code, the seq and the type, and changes nothing', () => {
      const session = talk({ vocabulary })
      const error = refusal(() => refused(session))
      expect(error.code).toBe(code)
      expect(error.seq).toBe(seq ?? next)
      expect(error).toBeInstanceOf(SessionAcceptanceError)
      expect(error).toBeInstanceOf(SessionError)
      expect(error.message).toContain(`${code}: event ${String(error.seq)} (${error.eventType})`)
      expect(session.length).toBe(Math.max(error.seq, next))
      expect(session.surface.nodes).toEqual(foldSurface(session.events).nodes)
    })

    it('is accepted when just right', () => {
      expect(() => accepted(talk({ vocabulary }))).not.toThrow()
    })
  })

  it('holds a seed to the same rules, and copies it', () => {
    const seed = stored(talk()).events as SessionEvent[]
    const session = Session.create({ seed })
    expect(session.firstLiveSeq).toBe(seed.length)
    expect(session.eventAt(0)).not.toBe(seed[0])
    expect(Object.isFrozen(seed[0])).toBe(false)
    expect(refusal(() => Session.create({ seed: seed.slice(1) })).code).toBe('envelope/seq')
  })

  it('documents each code with its meaning, its way out and its section', () => {
    for (const doc of Object.values(acceptanceCodes)) {
      expect(doc.meaning.length * doc.wayOut.length).toBeGreaterThan(0)
      expect(doc.section).toMatch(/^\d(\.\d)?$/)
    }
  })
})
