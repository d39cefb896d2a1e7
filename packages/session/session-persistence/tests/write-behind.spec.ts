import {
  messageId,
  Session,
  sessionId,
  SessionStore,
  toolCallId,
  type SessionEvent,
  type UserMessage,
} from '@palimpsest/session'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import {
  memoryPersistence,
  persistSession,
  PersistenceError,
  SessionConflictError,
  type PersistSessionOptions,
  type PersistedSession,
  type SessionHandle,
} from '../src/index.ts'

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

function message(text: string): UserMessage {
  return { id: messageId(text), role: 'user', content: [{ type: 'text', text }], source: { kind: 'user' } }
}

function say(session: Session, text: string): void {
  session.append('user/message', message(text), { surfaceOp: 'append' })
}

interface Setup {
  readonly session: Session
  readonly handle: SessionHandle
  readonly persisted: PersistedSession
  /** Seqs of each batch that reached the handle. */
  readonly batches: number[][]
  readonly errors: unknown[]
  /** What the next appends reject with; `undefined` lets them pass. */
  fault: { error: unknown }
}

async function setUp(
  options: PersistSessionOptions = {},
  session: Session = Session.create({ id: sessionId('a') }),
): Promise<Setup> {
  const handle = await memoryPersistence().create(session.header)
  const batches: number[][] = []
  const errors: unknown[] = []
  const fault: { error: unknown } = { error: undefined }
  const append = handle.append.bind(handle)
  handle.append = (events: readonly SessionEvent[]) => {
    batches.push(events.map(({ seq }) => seq))
    return fault.error === undefined ? append(events) : Promise.reject(fault.error)
  }
  const persisted = persistSession(session, handle, {
    maxBatchDelayMs: 50,
    onError: (error) => errors.push(error),
    ...options,
  })
  return { session, handle, persisted, batches, errors, fault }
}

const full = new PersistenceError('io/write', 'disk full')

describe('write-behind', () => {
  it('opens a batching window with the first event, and later ones join it', async () => {
    const { session, persisted, batches } = await setUp()
    say(session, 'a')
    await vi.advanceTimersByTimeAsync(49)
    say(session, 'b')
    expect(batches).toEqual([])
    await vi.advanceTimersByTimeAsync(1)
    expect(batches).toEqual([[0, 1]])
    expect(persisted.pending).toBe(0)
    say(session, 'c')
    await vi.advanceTimersByTimeAsync(50)
    expect(batches).toEqual([[0, 1], [2]])
  })

  it('writes events that the session has and the handle lacks', async () => {
    const session = Session.create({ id: sessionId('a') })
    say(session, 'a')
    const { persisted, batches } = await setUp({}, session)
    await persisted.flush()
    expect(batches).toEqual([[0]])
  })

  it('writes one batch at a time; what comes meanwhile goes into the next', async () => {
    const { session, handle, persisted } = await setUp()
    const batches: number[][] = []
    let release: () => void = () => undefined
    handle.append = (events) => {
      batches.push(events.map(({ seq }) => seq))
      return new Promise((resolve) => (release = resolve))
    }
    say(session, 'a')
    await vi.advanceTimersByTimeAsync(50)
    say(session, 'b')
    say(session, 'c')
    await vi.advanceTimersByTimeAsync(500)
    expect(batches).toEqual([[0]])
    release()
    await vi.advanceTimersByTimeAsync(50)
    expect(batches).toEqual([[0], [1, 2]])
    release()
    await vi.advanceTimersByTimeAsync(0)
    expect(persisted.pending).toBe(0)
  })

  it('flush writes at once and is the barrier of the store', async () => {
    const store = new SessionStore()
    const session = store.create({ id: sessionId('a') })
    const other = store.create({ id: sessionId('b') })
    const { batches, fault } = await setUp({ store }, session)
    say(session, 'a')
    await store.flush(other)
    expect(batches).toEqual([])
    await store.flush()
    expect(batches).toEqual([[0]])
    fault.error = full
    say(session, 'b')
    await expect(store.flush(session)).rejects.toBe(full)
  })

  it('flush makes a session without events durable', async () => {
    const store = memoryPersistence()
    const session = Session.create({ id: sessionId('a') })
    const persisted = persistSession(session, await store.create(session.header))
    await persisted.flush()
    expect(await store.stat(session.id)).toMatchObject({ eventCount: 0 })
  })

  it('DK-01: a full disk shows at once, is reported once, and nothing is lost or out of order when space comes back', async () => {
    const { session, handle, persisted, errors, fault } = await setUp()
    say(session, 'a')
    await persisted.flush()
    fault.error = full
    say(session, 'b')
    await vi.advanceTimersByTimeAsync(50)
    expect(persisted.status).toBe('degraded')
    say(session, 'c')
    await vi.advanceTimersByTimeAsync(50)
    await expect(persisted.flush()).rejects.toBe(full)
    await expect(persisted.flush()).rejects.toBe(full)
    expect(errors).toEqual([full])
    expect(persisted.pending).toBe(2)
    fault.error = undefined
    say(session, 'd')
    await persisted.flush()
    expect([persisted.status, persisted.pending, handle.nextSeq]).toEqual(['ok', 0, 4])
    fault.error = full
    say(session, 'e')
    await expect(persisted.flush()).rejects.toBe(full)
    expect(errors, 'a new spell is reported anew').toHaveLength(2)
  })

  it('DK-01: the next event tries again, without any flush', async () => {
    const { session, persisted, handle, fault } = await setUp()
    fault.error = full
    say(session, 'a')
    await vi.advanceTimersByTimeAsync(50)
    fault.error = undefined
    say(session, 'b')
    await vi.advanceTimersByTimeAsync(50)
    expect([persisted.status, handle.nextSeq]).toEqual(['ok', 2])
  })

  it('DK-01: an event that comes while a write is failing is tried too', async () => {
    const { session, persisted, handle, fault } = await setUp()
    fault.error = full
    say(session, 'a')
    vi.advanceTimersByTime(50)
    say(session, 'b')
    fault.error = undefined
    await vi.advanceTimersByTimeAsync(50)
    expect([persisted.status, handle.nextSeq]).toEqual(['ok', 2])
  })

  it('a flush during a failing write makes an attempt of its own', async () => {
    const { session, persisted, fault } = await setUp()
    fault.error = full
    say(session, 'a')
    await vi.advanceTimersByTimeAsync(50)
    const flushed = persisted.flush()
    fault.error = undefined
    await flushed
    expect(persisted.status).toBe('ok')
  })

  it('past the bound events are vetoed and nothing is appended, but never those that close a turn', async () => {
    const { session, persisted, fault } = await setUp({ maxPendingBytes: 2_000 })
    fault.error = full
    session.append('turn/start', { turn: 1 })
    session.append('step/start', { turn: 1, step: 1 })
    session.append(
      'assistant/message',
      {
        turn: 1,
        step: 1,
        stream: [],
        message: {
          id: messageId('m'),
          role: 'assistant',
          content: [{ type: 'tool-call', id: toolCallId('c'), name: 'run', arguments: `"${'x'.repeat(3_000)}"` }],
          source: { kind: 'model', provider: 'p', model: 'm' },
        },
      },
      { surfaceOp: 'append' },
    )
    const { length } = session
    expect(() => session.append('tool/progress', { turn: 1, step: 1, callId: toolCallId('c'), content: [] })).toThrow(
      expect.objectContaining({ code: 'persistence/backpressure' }),
    )
    expect(session.length).toBe(length)
    session.append(
      'tool/result',
      {
        turn: 1,
        step: 1,
        message: {
          id: messageId('r'),
          role: 'user',
          content: [{ type: 'tool-result', toolCallId: toolCallId('c'), content: [] }],
          source: { kind: 'tool', callId: toolCallId('c') },
        },
      },
      { surfaceOp: 'append' },
    )
    session.append('step/end', { turn: 1, step: 1 })
    session.append('turn/end', { turn: 1, reason: { kind: 'completed' } })
    expect(() => say(session, 'more')).toThrow(PersistenceError)
    fault.error = undefined
    await persisted.flush()
    say(session, 'more')
    await persisted.flush()
    expect(persisted.pending).toBe(0)
  })

  it('one event may exceed the bound', async () => {
    const { session, persisted } = await setUp({ maxPendingBytes: 100 })
    say(session, 'x'.repeat(10_000))
    await persisted.flush()
    expect(persisted.pending).toBe(0)
  })

  it('of a poisoned handle refuses what could never be written', async () => {
    const { session, handle, persisted } = await setUp()
    Object.defineProperty(handle, 'status', { get: () => 'poisoned' })
    expect(persisted.status).toBe('poisoned')
    expect(() => say(session, 'a')).toThrow(expect.objectContaining({ code: 'handle/poisoned' }))
    expect(session.length).toBe(0)
  })

  it('close flushes, detaches and closes the handle', async () => {
    const { session, handle, persisted, batches } = await setUp()
    say(session, 'a')
    await persisted.close()
    await persisted.close()
    expect([batches, persisted.status, handle.status]).toEqual([[[0]], 'closed', 'closed'])
    say(session, 'b')
    expect(persisted.pending).toBe(0)
    await expect(persisted.flush()).rejects.toMatchObject({ code: 'handle/closed' })
  })

  it('close writes what comes while it flushes', async () => {
    const { session, handle, persisted, batches } = await setUp()
    const append = handle.append.bind(handle)
    handle.append = async (events) => {
      await append(events)
      if (session.length < 3) say(session, String(session.length))
    }
    say(session, 'a')
    await persisted.close()
    expect(session.length).toBe(3)
    expect([batches, handle.nextSeq, persisted.pending]).toEqual([[[0], [1], [2]], 3, 0])
  })

  it('close that cannot flush changes nothing and may be repeated', async () => {
    const { session, handle, persisted, fault } = await setUp()
    fault.error = full
    say(session, 'a')
    await expect(persisted.close()).rejects.toBe(full)
    expect([persisted.status, handle.status]).toEqual(['degraded', 'ok'])
    fault.error = undefined
    say(session, 'b')
    await persisted.close()
    expect(handle.nextSeq).toBe(2)
  })

  it('refuses a session and a handle that do not belong together', async () => {
    const handle = await memoryPersistence().create(Session.create({ id: sessionId('b') }).header)
    expect(() => persistSession(Session.create({ id: sessionId('a') }), handle)).toThrow(SessionConflictError)
    const session = Session.create({ id: sessionId('b') })
    say(session, 'x')
    await handle.append(session.events)
    expect(() => persistSession(Session.create({ id: sessionId('b') }), handle)).toThrow(SessionConflictError)
    for (const options of [{ maxBatchDelayMs: -1 }, { maxPendingBytes: 0 }, { maxBatchDelayMs: Number.NaN }])
      expect(() => persistSession(session, handle, options)).toThrow(RangeError)
  })
})
