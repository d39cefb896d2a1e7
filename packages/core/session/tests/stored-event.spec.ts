import { coreEvents, defineEvents, Session } from '@palimpsest/session'
import type { SessionEvent } from '@palimpsest/session'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { add, at, fresh, stored, talk } from './sessions.ts'

describe('a stored event', () => {
  const replaced = (event: unknown) => () => {
    const base = stored(talk())
    return Session.restore({ ...base, events: [...base.events.slice(0, at.user), event as SessionEvent] })
  }
  const user = (change: object): unknown => ({ ...stored(talk()).events[at.user], ...change })
  const odd = (change: object): unknown => ({
    type: 'acme/odd',
    seq: at.user,
    time: 1,
    ignorable: true,
    data: {},
    ...change,
  })

  it.each<[string, string, unknown]>([
    ['nothing', 'envelope/keys', null],
    ['undefined', 'envelope/keys', undefined],
    ['a string', 'envelope/keys', 'user/message'],
    ['a list', 'envelope/keys', []],
    ['an event without a type', 'envelope/keys', { seq: at.user, time: 1, data: {} }],
    ['a type that is no string', 'envelope/keys', user({ type: 5 })],
    ['a seq that is no JSON', 'envelope/seq', user({ seq: Number.NaN })],
    ['a time that is no JSON', 'envelope/time', user({ time: Infinity })],
    ['an op that is no JSON', 'surface/invalid-op', user({ surfaceOp: { op: 'replace', startSeq: -0, endSeq: 0 } })],
    ['sources that are no JSON', 'sources/invalid', user({ sourceEventSeqs: [-0] })],
    ['another member that is no JSON', 'envelope/keys', user({ extra: Number.NaN })],
    ['data that is no JSON', 'envelope/json', user({ data: { content: [Number.NaN] } })],
    ['an opaque event whose op is no JSON', 'envelope/json', odd({ surfaceOp: -0 })],
    ['an opaque event whose sources are no JSON', 'envelope/json', odd({ sourceEventSeqs: [-0] })],
    ['an opaque event whose data is no object', 'envelope/json', odd({ data: [] })],
    ['an opaque event without data', 'envelope/json', odd({ data: undefined })],
  ])('is refused when it is %s', (_, code, event) => {
    expect(replaced(event)).toThrow(expect.objectContaining({ name: 'SessionAcceptanceError', code, seq: at.user }))
  })

  it('is refused when even its type cannot be read', () => {
    const thorny = {
      get type(): string {
        throw new Error('no')
      },
    }
    expect(replaced(thorny)).toThrow(expect.objectContaining({ code: 'envelope/json', eventType: '' }))
  })
})

describe('unknown events', () => {
  it('stay opaque when they are ignorable, whatever metadata they carry', () => {
    const base = stored(talk())
    const opaque = {
      type: 'acme/odd',
      seq: at.done + 1,
      time: 1,
      ignorable: true,
      surfaceOp: 'sideways',
      sourceEventSeqs: [99],
      extra: 1,
      data: { __proto__: null, message: 'x' },
    } as unknown as SessionEvent
    const session = Session.restore({ ...base, events: [...base.events, opaque] })
    expect(session.surface.nodes).not.toContain(opaque.seq)
    expect(session.findings).toEqual([])
    expect(session.eventAt(opaque.seq)).toBe(opaque)
  })

  it.each([undefined, null, 1, 'x', [[]]])('need data that every store can write, not %j', (data) => {
    const refused = expect.objectContaining({ code: 'envelope/json' }) as object
    const opaque = { type: 'acme/odd', seq: 0, time: 1, ignorable: true, ...(data === undefined ? {} : { data }) }
    expect(() => fresh({ seed: [opaque as unknown as SessionEvent] })).toThrow(refused)
    expect(() => fresh().append('acme/odd', data as never, { ignorable: true })).toThrow(refused)
  })

  it('are refused on restore unless kept, and never kept with a place on the surface', () => {
    const base = stored(talk())
    const odd = { type: 'acme/odd', seq: at.done + 1, time: 1, data: {} } as unknown as SessionEvent
    const placed = { ...odd, surfaceOp: 'append' } as unknown as SessionEvent
    const refused = expect.objectContaining({
      code: 'vocabulary/unknown',
      seq: at.done + 1,
      eventType: 'acme/odd',
    }) as object
    const events = (event: SessionEvent) => ({ ...stored(talk()), events: [...base.events, event] })
    expect(() => Session.restore(events(odd))).toThrow(refused)
    expect(() => Session.restore(events(placed), { unknown: 'keep' })).toThrow(refused)
    const { findings } = Session.restore(events(odd), { unknown: 'keep' })
    expect(findings).toMatchObject([
      { code: 'vocabulary/unknown', seq: at.done + 1, fix: expect.any(String) as string },
    ])
  })

  it('of a retired type are kept alike, and no vocabulary is asked for', () => {
    const vocabulary = coreEvents.extend(defineEvents({ 'acme/old': z.looseObject({}) }, { retired: ['acme/old'] }))
    const old = { type: 'acme/old', seq: 0, time: 1, data: {} } as unknown as SessionEvent
    const base = { ...stored(fresh()), events: [old] }
    expect(() => Session.restore(base, { vocabulary })).toThrow(/acme\/old.*retired/)
    const [finding] = Session.restore(base, { vocabulary, unknown: 'keep' }).findings
    expect(finding?.message).toContain('retired')
    expect(finding).not.toHaveProperty('fix')
  })

  it.each([{ surfaceOp: -0 }, { sourceEventSeqs: [() => 1] }])(
    'may not carry metadata that is no JSON: %o',
    (metadata) => {
      expect(() => add(talk(), 'acme/odd', {}, { ignorable: true, ...metadata })).toThrow(
        expect.objectContaining({ code: 'envelope/json' }),
      )
    },
  )

  it('are refused when appended live, also by a session that kept some', () => {
    const session = Session.restore(stored(talk()), { unknown: 'keep' })
    expect(() => add(session, 'acme/odd', {})).toThrow(expect.objectContaining({ code: 'vocabulary/unknown' }))
  })
})
