import { SessionStore } from '@palimpsest/session'
import { describe, expect, it, vi } from 'vitest'
import { say, stored, talk } from './sessions.ts'

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
