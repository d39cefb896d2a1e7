import { coreEvents, defineEvents, deriveMessagesAt, Session, SessionStore, stringifyHeader } from '@palimpsest/session'
import type { SessionEvent } from '@palimpsest/session'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { z } from 'zod'
import { add, at, call, fresh, say, stored, talk } from './sessions.ts'

afterEach(() => {
  vi.restoreAllMocks()
})

const failing = (message: string) => () => {
  throw new Error(message)
}

describe('a session store', () => {
  it('holds live sessions by id, in the order in which they entered', () => {
    const store = new SessionStore()
    const one = store.create({ id: 'one' })
    const two = store.restore(stored(talk()))
    expect(store.get('one')).toBe(one)
    expect(store.get('talk')).toBe(two)
    expect(store.list()).toEqual([one, two])
    expect(store.get('three')).toBeUndefined()
  })

  it('refuses a second session of one id', () => {
    const store = new SessionStore()
    store.create({ id: 'one' })
    expect(() => store.create({ id: 'one' })).toThrow(expect.objectContaining({ code: 'store/duplicate' }))
    expect(store.list().length).toBe(1)
  })

  it('lets a listener veto a new session, and takes it out again', () => {
    const store = new SessionStore()
    const disposed = vi.fn()
    store.on('session/disposed', disposed)
    const stop = store.on('session/created', failing('no room'))
    expect(() => store.create({ id: 'one' })).toThrow('no room')
    expect(store.list()).toEqual([])
    expect(disposed).toHaveBeenCalledTimes(1)
    stop()
    expect(store.create({ id: 'one' }).id).toBe('one')
  })

  it('announces every event of every live session, after its commit', () => {
    const store = new SessionStore()
    const heard: string[] = []
    store.on('session/event', (event, session) =>
      heard.push(`${session.id} ${String(event.seq)} ${String(session.length)}`),
    )
    say(store.create({ id: 'one' }), 'x')
    const two = store.create({ id: 'two' })
    say(two, 'x')
    store.dispose(two)
    say(two, 'gone')
    expect(heard).toEqual(['one 0 1', 'two 0 1'])
  })

  it('lets a listener that was added during a dispatch see only later events', () => {
    const store = new SessionStore()
    const session = store.create()
    const heard: string[] = []
    const listen = (name: string): (() => void) =>
      store.on('session/event', ({ seq }) => heard.push(`${name} ${String(seq)}`))
    const stop = session.on('internal/dispatch', () => {
      stop()
      listen('early')
    })
    session.on('session/event', ({ seq }) => {
      if (seq !== 0) return
      say(session, 'nested')
      listen('late')
    })
    say(session, 'x')
    say(session, 'y')
    expect(heard).toEqual(['early 1', 'early 2', 'late 2'])
  })

  it('contains what observers throw', () => {
    const onListenerError = vi.fn()
    const store = new SessionStore({ onListenerError })
    store.on('session/event', failing('observer'))
    store.on('session/disposed', failing('mourner'))
    const session = store.create()
    say(session, 'x')
    expect(store.dispose(session)).toBe(true)
    expect(onListenerError.mock.calls.map(([error, of]) => [(error as Error).message, of])).toEqual([
      ['observer', session],
      ['mourner', session],
    ])
  })

  it('disposes by session or id, once', () => {
    const store = new SessionStore()
    store.create({ id: 'one' })
    expect(store.dispose('one')).toBe(true)
    expect(store.dispose('one')).toBe(false)
    expect(store.list()).toEqual([])
  })

  it('flushes one session or all: every listener settles, then the first failure is thrown', async () => {
    const store = new SessionStore()
    const settled: string[] = []
    store.on('session/flush', async ({ id }) => {
      await Promise.resolve()
      settled.push(`slow ${id}`)
      if (id === 'one') throw new Error('disk full')
    })
    store.on('session/flush', ({ id }) => void settled.push(`quick ${id}`))
    const one = store.create({ id: 'one' })
    store.create({ id: 'two' })
    await expect(store.flush()).rejects.toThrow('disk full')
    expect(settled.toSorted()).toEqual(['quick one', 'quick two', 'slow one', 'slow two'])
    await expect(store.flush('two')).resolves.toBeUndefined()
    await expect(store.flush(one)).rejects.toThrow('disk full')
    await expect(store.flush('three')).rejects.toMatchObject({ code: 'store/unknown' })
  })

  it('counts a listener that throws at once as a failed flush', async () => {
    const store = new SessionStore()
    const quick = vi.fn()
    store.on('session/flush', failing('at once'))
    store.on('session/flush', quick)
    store.create()
    await expect(store.flush()).rejects.toThrow('at once')
    expect(quick).toHaveBeenCalledTimes(1)
  })

  it('uses plugins and takes them out again', () => {
    const store = new SessionStore()
    const heard = vi.fn()
    const remove = store.use((of) => of.on('session/created', heard))
    store.create()
    remove()
    store.create()
    expect(heard).toHaveBeenCalledTimes(1)
    expect(store.use(() => undefined)()).toBeUndefined()
  })
})

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

describe('a session header', () => {
  it('is made once, frozen, with what was given and what is given always', () => {
    const session = Session.create({ now: () => 7 })
    expect(session.header).toMatchObject({
      format: 'palimpsest',
      version: 3,
      createdAt: 7,
      isSeeded: false,
      delegationDepth: 0,
    })
    expect(session.id).toMatch(/^[0-9a-f-]{36}$/)
    expect(Object.isFrozen(session.header)).toBe(true)
    expect(Object.keys(fresh().header)).not.toContain('cwd')
  })

  it('keeps members it does not know through a round trip', () => {
    const { header } = fresh()
    const line = stringifyHeader({ ...header, future: { a: 1 } } as typeof header)
    expect(line.startsWith('{"type":"session","format":"palimpsest","version":3,')).toBe(true)
    const again = Session.restore({ header: JSON.parse(line) as typeof header, events: [], inheritedEventCount: 0 })
    expect(stringifyHeader(again.header)).toBe(line)
  })

  it.each<[string, string, unknown]>([
    ['a newer version', 'header/newer-version', { format: 'palimpsest', version: 4 }],
    ['an older one', 'header/invalid', { format: 'palimpsest', version: 2 }],
    ['another format', 'header/invalid', { format: 'other', version: 4 }],
    ['no object', 'header/invalid', 'session'],
    ['nothing', 'header/invalid', null],
    ['what is not JSON', 'header/invalid', { id: () => 'x' }],
    ['an empty id', 'header/invalid', { ...fresh().header, id: '' }],
    ['a relative cwd', 'header/invalid', { ...fresh().header, cwd: 'src' }],
    [
      'an absolute import source',
      'header/invalid',
      { ...fresh().header, importedFrom: { agent: 'x', source: '/etc/x' } },
    ],
  ])('refuses %s', (_, code, header) => {
    expect(() => Session.restore({ header: header as never, events: [], inheritedEventCount: 0 })).toThrow(
      expect.objectContaining({ name: 'SessionError', code }),
    )
  })

  it('takes absolute paths of every platform', () => {
    for (const cwd of ['/srv', 'C:\\work', 'c:/work', '\\\\host\\share']) expect(fresh({ cwd }).header.cwd).toBe(cwd)
    expect(fresh({ importedFrom: { agent: 'claude-code', source: 'a/b.jsonl' } }).header.importedFrom?.source).toBe(
      'a/b.jsonl',
    )
  })
})

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

describe('a seed', () => {
  it('with an inherited marker makes a seeded session, unless the caller says otherwise', () => {
    const child = new SessionStore().fork(talk())
    expect(fresh({ seed: child.events }).header.isSeeded).toBe(true)
    expect(fresh({ seed: child.events, isSeeded: false }).header.isSeeded).toBe(false)
    expect(fresh({ seed: talk().events }).header.isSeeded).toBe(false)
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
