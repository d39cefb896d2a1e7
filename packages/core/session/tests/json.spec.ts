import { jsonEqual, MAX_JSON_DEPTH, Session, SessionError, stringifyEvent, toJson } from '@palimpsest/session'
import type { Json, SessionEvent } from '@palimpsest/session'
import { anyJson } from '@palimpsest/testkit'
import fc from 'fast-check'
import { runInNewContext } from 'node:vm'
import { describe, expect, it } from 'vitest'
import { add, fresh, refusal, stored } from './sessions.ts'

/** Appends a log-only event that holds `value`, beside the members that the type needs. */
const keep = (session: Session, value: unknown): SessionEvent => add(session, 'turn/start', { turn: 1, value })
const valueOf = (event: SessionEvent | undefined): unknown => (event?.data as { value?: unknown } | undefined)?.value
const kept = (value: unknown): unknown => valueOf(keep(fresh(), value))

/** `levels` arrays, one inside the other. */
function nested(levels: number): unknown {
  let value: unknown = 0
  for (let level = 0; level < levels; level++) value = [value]
  return value
}

class Point {
  x = 1
}
const knot: Record<string, unknown> = {}
knot['deep'] = { knot }

const lossy: readonly (readonly [what: string, make: () => unknown])[] = [
  ['undefined', () => undefined],
  ['undefined in an object', () => ({ a: undefined })],
  ['undefined in an array', () => [undefined]],
  ['a function', () => () => 1],
  ['a symbol', () => Symbol('s')],
  ['a bigint', () => 1n],
  ['NaN', () => Number.NaN],
  ['Infinity', () => Infinity],
  ['-Infinity', () => -Infinity],
  ['-0', () => -0],
  ['a cycle', () => knot],
  ['a sparse array', () => Object.assign([], { length: 2 })],
  ['an array with a member of its own', () => Object.assign([1], { extra: 1 })],
  ['an array of a derived class', () => new (class extends Array<number> {})()],
  ['an array that derives from another', () => Object.setPrototypeOf([1], []) as unknown],
  [
    'a sparse array with a method of its own',
    () => {
      const list: unknown[] = []
      list.length = 1
      return Object.assign(list, { slice: () => [1] })
    },
  ],
  ['a class instance', () => new Point()],
  ['a date', () => new Date(0)],
  ['a map', () => new Map()],
  ['an object made from another', () => Object.create({ a: 1 }) as unknown],
  ['an object without a class to name', () => Object.create({ constructor: 1 }) as unknown],
  ['a boxed string', () => Object('x') as unknown],
  ['a symbol key', () => ({ [Symbol('s')]: 1 })],
  ['a hidden key', () => Object.defineProperty({}, 'hidden', { value: 1 })],
  [
    'a getter that throws',
    () => ({
      get a() {
        throw new Error('no')
      },
    }),
  ],
  [
    'a revoked proxy',
    () => {
      const { proxy, revoke } = Proxy.revocable({}, {})
      revoke()
      return proxy
    },
  ],
  ['a toJSON method', () => ({ toJSON: () => 1 })],
]

describe('lossless JSON', () => {
  it.each(lossy)('refuses %s', (_, make) => {
    expect(refusal(() => kept(make())).code).toBe('envelope/json')
  })

  it('refuses a hole in an array', () => {
    const holed = [1]
    holed[2] = 3
    const error = refusal(() => kept({ list: holed }))
    expect(error.code).toBe('envelope/json')
    expect(error.message).toContain('data.value.list')
  })

  it('refuses an array of four billion holes at once', () => {
    const session = fresh()
    expect(refusal(() => keep(session, Object.assign([], { length: 2 ** 32 - 1 }))).code).toBe('envelope/json')
    expect(() => toJson(Object.assign([], { length: 2 ** 32 - 1 }))).toThrow(SessionError)
  })

  it('names the place', () => {
    expect(refusal(() => kept([{ a: -0 }])).message).toContain('data.value[0].a')
    expect(refusal(() => add(fresh(), 'turn/start', undefined)).code).toBe('envelope/json')
  })

  it.each<[string, unknown]>([
    ['null', null],
    ['booleans', [true, false]],
    ['numbers', [0, -1, 1.5, 5e-324, 1e308, Number.MAX_SAFE_INTEGER]],
    ['strings with lone surrogates', ['\ud99c', 'a\udc00', '\u2028', '\u0000']],
    ['an object without a prototype', Object.assign(Object.create(null) as object, { a: 1 })],
    ['an own __proto__ key', JSON.parse('{"__proto__":{"a":1}}')],
    ['objects and arrays of another realm', runInNewContext('({ a: [1, { b: null }] })')],
    ['members named as those of Object.prototype', { constructor: 1, hasOwnProperty: 2, toJSON: 'text', toString: 3 }],
  ])('keeps %s', (_, value) => {
    expect(JSON.stringify(kept(value))).toBe(JSON.stringify(value))
  })

  it('keeps the same object twice: a graph without cycles is a tree on disk', () => {
    const shared = { a: [1] }
    expect(kept([shared, { shared }])).toEqual([{ a: [1] }, { shared: { a: [1] } }])
    const session = fresh()
    keep(session, 0)
    const at = stored(session)
    Object.assign(at.events[0]?.data as object, { value: [shared, shared] })
    expect(Session.restore(at).eventAt(0)?.data).toEqual({ turn: 1, value: [{ a: [1] }, { a: [1] }] })
  })

  it('takes 1,000 levels, data being the first, and no more, appended or restored', () => {
    const session = fresh()
    keep(session, nested(MAX_JSON_DEPTH - 1))
    expect(MAX_JSON_DEPTH).toBe(1000)
    const error = refusal(() => keep(session, nested(MAX_JSON_DEPTH)))
    expect(error.code).toBe('envelope/json')
    expect(error.message).toContain('levels')
    expect(error.message.length).toBeLessThan(1000)
    expect(Session.restore(stored(session)).length).toBe(1)
    const at = stored(session)
    Object.assign(at.events[0]?.data as object, { value: nested(MAX_JSON_DEPTH) })
    expect(refusal(() => Session.restore(at)).code).toBe('envelope/json')
  })

  it('does not overflow on hostile depth', () => {
    const abyss = nested(1_000_000)
    expect(refusal(() => kept(abyss)).code).toBe('envelope/json')
    expect(() => toJson(abyss)).toThrow(SessionError)
    const session = fresh()
    keep(session, 0)
    const at = stored(session)
    Object.assign(at.events[0]?.data as object, { value: abyss })
    expect(refusal(() => Session.restore(at)).code).toBe('envelope/json')
  })

  it('says a cycle is a cycle', () => {
    expect(refusal(() => kept(knot)).message).toContain('cycle')
  })

  it('reads an accessor once, so that it cannot lie between two reads', () => {
    let reads = 0
    const value = {
      get turn() {
        reads += 1
        return reads === 1 ? 'first' : undefined
      },
    }
    expect(kept(value)).toEqual({ turn: 'first' })
    expect(reads).toBe(1)
  })

  it('refuses an accessor whose first value is not JSON, whatever it says later', () => {
    let reads = 0
    const value = {
      get turn() {
        reads += 1
        return reads === 1 ? Number.NaN : 1
      },
    }
    expect(refusal(() => kept(value)).code).toBe('envelope/json')
  })

  it('refuses a stored event with a hidden key, which no store could have read', () => {
    const value = Object.defineProperty({ seen: 'x' }, 'hidden', { value: 'y' })
    const event = { type: 'turn/start', seq: 0, time: 1, data: { turn: 1, value } } as unknown as SessionEvent
    expect(refusal(() => Session.restore({ ...stored(fresh()), events: [event] })).code).toBe('envelope/json')
  })

  it('copies a stored event whose members are accessors, instead of adopting it', () => {
    const session = fresh()
    keep(session, 'x')
    const at = stored(session)
    let reads = 0
    Object.defineProperty(at.events[0]?.data, 'value', { enumerable: true, get: () => (reads += 1) })
    const restored = Session.restore(at)
    expect(restored.eventAt(0)?.data).toEqual({ turn: 1, value: 1 })
    expect(restored.eventAt(0)?.data).toEqual({ turn: 1, value: 1 })
  })

  it('keeps a frozen snapshot of the input, which the caller goes on using', () => {
    const value = { list: [{ a: 1 }] }
    const session = fresh()
    const event = keep(session, value)
    value.list.push({ a: 2 })
    Object.assign(value.list[0] as object, { a: 3 })
    expect(valueOf(event)).toEqual({ list: [{ a: 1 }] })
    const walk = (part: unknown): void => {
      if (typeof part !== 'object' || part === null) return
      expect(Object.isFrozen(part)).toBe(true)
      Object.values(part).forEach(walk)
    }
    walk(event)
    expect(Object.isFrozen(value)).toBe(false)
  })

  it('adopts what a restore is given: the same objects, frozen in place', () => {
    const session = fresh()
    keep(session, { a: 1 })
    const at = stored(session)
    const restored = Session.restore(at)
    expect(restored.eventAt(0)).toBe(at.events[0])
    expect(Object.isFrozen(valueOf(at.events[0]))).toBe(true)
  })

  it('survives a round trip through text, whatever it is', () => {
    fc.assert(
      fc.property(anyJson, (value) => {
        const session = fresh()
        const line = stringifyEvent(keep(session, value))
        const again = Session.restore({ ...stored(session), events: [JSON.parse(line) as SessionEvent] })
        expect(stringifyEvent(again.eventAt(0) as SessionEvent)).toBe(line)
        expect(jsonEqual(valueOf(again.eventAt(0)) as Json, value)).toBe(true)
      }),
    )
  })
})

describe('toJson', () => {
  it('drops undefined members of foreign values and copies the rest', () => {
    const value = { a: undefined, b: [{ c: undefined, d: 1 }] }
    expect(Object.keys(toJson(value) as object)).toEqual(['b'])
    expect(toJson(value)).toEqual({ b: [{ d: 1 }] })
    expect(toJson('x')).toBe('x')
  })

  it.each(['undefined', 'undefined in an array', 'a bigint', '-0', 'a date'])('refuses %s with json/lossy', (what) => {
    const make = lossy.find(([name]) => name === what)?.[1]
    expect(() => toJson(make?.())).toThrow(expect.objectContaining({ name: 'SessionError', code: 'json/lossy' }))
  })
})

describe('jsonEqual', () => {
  it.each<[unknown, unknown, boolean]>([
    [1, 1, true],
    [1, '1', false],
    [null, {}, false],
    [{}, null, false],
    [[], {}, false],
    [[1, [2]], [1, [2]], true],
    [[1, 2], [2, 1], false],
    [{ a: 1, b: { c: [] } }, { b: { c: [] }, a: 1 }, true],
    [{ a: 1 }, { a: 1, b: 1 }, false],
    [{ a: 1 }, { b: 1 }, false],
    [{ toString: 1 }, { a: 1 }, false],
    [undefined, undefined, true],
  ])('%j and %j: %s', (left, right, equal) => {
    expect(jsonEqual(left as Json, right as Json)).toBe(equal)
  })
})
