import { coreEvents, defineEvents, Session, Vocabulary } from '@palimpsest/session'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { add, fresh } from './sessions.ts'

const note = defineEvents({ 'acme/note': z.looseObject({ text: z.string() }) }, { owner: 'acme' })

describe('a vocabulary', () => {
  it('is a value: extending it leaves it as it was', () => {
    const both = coreEvents.extend(note)
    expect(both.accepts('acme/note')).toBe(true)
    expect(coreEvents.accepts('acme/note')).toBe(false)
    expect(both.accepts('turn/start')).toBe(true)
    expect([...both].length).toBe([...coreEvents].length + 1)
    expect(both.get('acme/note')).toMatchObject({ owner: 'acme', retired: false })
  })

  it('takes one definition twice, and refuses two of one type', () => {
    expect([...note.extend(note)].length).toBe(1)
    const other = defineEvents({ 'acme/note': z.looseObject({}) })
    expect(() => note.extend(other)).toThrow(expect.objectContaining({ code: 'vocabulary/conflict' }))
    expect(() => note.extend(other)).toThrow(/acme.*this application/)
  })

  it('knows no type by the name of a member that every object has', () => {
    for (const name of ['constructor', '__proto__', 'toString']) expect(coreEvents.accepts(name)).toBe(false)
  })

  it('of a session holds the core types as they are', () => {
    expect(() => fresh({ vocabulary: note })).toThrow(expect.objectContaining({ code: 'vocabulary/conflict' }))
    const twisted = new Vocabulary(
      [...coreEvents].map(([type, definition]) => [type, type === 'tool/result' ? { ...definition } : definition]),
    )
    expect(() => fresh({ vocabulary: twisted })).toThrow(/tool\/result/)
  })

  it('gives a session the types of a plugin, whose schemas check and never change what is kept', () => {
    const changing = defineEvents({
      'acme/count': z.object({ n: z.coerce.number().default(5) }).transform(({ n }) => ({ n: n + 1 })),
    })
    const session = Session.create({ vocabulary: coreEvents.extend(changing) })
    expect(add(session, 'acme/count', { n: '1', extra: true }).data).toEqual({ n: '1', extra: true })
    expect(add(session, 'acme/count', {}).data).toEqual({})
    expect(() => add(session, 'acme/count', { n: 'x' })).toThrow(expect.objectContaining({ code: 'payload/invalid' }))
  })

  it('never gives an event data that is no object, whatever its schema takes', () => {
    const session = Session.create({ vocabulary: coreEvents.extend(defineEvents({ 'acme/any': z.any() })) })
    for (const data of [5, 'x', null, [{}]]) {
      expect(() => add(session, 'acme/any', data)).toThrow(expect.objectContaining({ code: 'envelope/json' }))
    }
    expect(add(session, 'acme/any', {}).data).toEqual({})
  })
})
