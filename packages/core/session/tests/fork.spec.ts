import { deriveMessagesAt, Session, SessionStore } from '@palimpsest/session'
import type { SessionEvent } from '@palimpsest/session'
import { describe, expect, it } from 'vitest'
import { at, call, fresh, say, stored, talk } from './sessions.ts'

describe('a fork', () => {
  it('inherits through the boundary, marks the cut and names its parent', () => {
    const parent = talk({ cwd: '/srv/app', agentPreset: 'coder', delegationDepth: 2, origin: 'subagent' })
    const child = new SessionStore().fork(parent, at.turn, { id: 'child', now: () => 5 })
    expect(child.header).toMatchObject({
      id: 'child',
      createdAt: 5,
      parentSession: 'talk',
      isSeeded: true,
      cwd: '/srv/app',
      agentPreset: 'coder',
      delegationDepth: 2,
      origin: 'subagent',
    })
    expect(child.events.map(({ type }) => type)).toEqual([
      'system/message',
      'turn/start',
      'session/end-seed',
      'turn/end',
    ])
    expect(child.eventAt(2)?.data).toEqual({ inherited: true })
    expect(child.inheritedEventCount).toBe(2)
    expect(child.firstLiveSeq).toBe(2)
    expect(parent.length).toBe(at.done + 1)
  })

  it('takes the whole log by default, and an empty one too', () => {
    const store = new SessionStore()
    const parent = store.create({ id: 'parent' })
    const empty = store.fork(parent)
    expect(empty.events.map(({ type }) => type)).toEqual(['session/end-seed'])
    expect(empty.inheritedEventCount).toBe(0)
    say(parent, 'x')
    const child = store.fork('parent')
    expect(child.deriveMessages()).toEqual(parent.deriveMessages())
    expect(store.list()).toContain(child)
  })

  it('closes what the cut left open, after the marker', () => {
    const parent = talk()
    const child = new SessionStore().fork(parent, at.resultA)
    expect(child.events.slice(at.resultA + 1).map(({ type }) => type)).toEqual([
      'session/end-seed',
      'tool/result',
      'step/end',
      'turn/end',
    ])
    expect(deriveMessagesAt(child.events, at.resultA + 1)).toEqual(deriveMessagesAt(parent.events, at.resultA))
    say(child, 'on we go')
  })

  it('refuses a boundary inside a turn when asked to', () => {
    const store = new SessionStore()
    const parent = talk()
    expect(() => store.fork(parent, at.resultA, { onOpenTurn: 'refuse' })).toThrow(
      expect.objectContaining({ code: 'fork/open-turn' }),
    )
    expect(store.fork(parent, at.head, { onOpenTurn: 'refuse' }).length).toBe(2)
    expect(store.list().length).toBe(1)
  })

  it.each([-1, at.done + 1, 0.5])('refuses the boundary %d, which is no event', (boundary) => {
    expect(() => new SessionStore().fork(talk(), boundary)).toThrow(expect.objectContaining({ code: 'fork/boundary' }))
  })

  it('refuses a source that is not in the store', () => {
    expect(() => new SessionStore().fork('nobody')).toThrow(expect.objectContaining({ code: 'store/unknown' }))
  })

  it('goes its own way: parent and child share history and nothing else', () => {
    const parent = talk()
    const child = new SessionStore().fork(parent)
    say(child, 'child')
    call(parent, 'c')
    expect(parent.length).toBe(at.done + 2)
    expect(child.eventAt(0)).toBe(parent.eventAt(0))
    expect(child.surface.nodes.length).toBe(parent.surface.nodes.length)
  })

  it('of a fork counts what it inherited to its own marker', () => {
    const store = new SessionStore()
    const child = store.fork(talk())
    const grandchild = store.fork(child)
    expect(grandchild.inheritedEventCount).toBe(child.length)
    expect(Session.restore(stored(grandchild)).inheritedEventCount).toBe(child.length)
  })

  it('keeps what its parent kept without knowing it', () => {
    const base = stored(talk())
    const odd = { type: 'acme/odd', seq: at.done + 1, time: 1, data: {} } as unknown as SessionEvent
    const parent = Session.restore({ ...base, events: [...base.events, odd] }, { unknown: 'keep' })
    const child = new SessionStore().fork(parent)
    expect(child.findings).toEqual(parent.findings)
    expect(child.findings).toMatchObject([{ code: 'vocabulary/unknown', severity: 'warning', seq: at.done + 1 }])
  })
})

describe('a seed', () => {
  it('with an inherited marker makes a seeded session, unless the caller says otherwise', () => {
    const child = new SessionStore().fork(talk())
    expect(fresh({ seed: child.events }).header.isSeeded).toBe(true)
    expect(fresh({ seed: child.events, isSeeded: false }).header.isSeeded).toBe(false)
    expect(fresh({ seed: talk().events }).header.isSeeded).toBe(false)
  })
})
