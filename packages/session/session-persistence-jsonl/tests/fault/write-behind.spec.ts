import { messageId, Session, type SessionEvent } from '@palimpsest/session'
import { persistSession } from '@palimpsest/session-persistence'
import { faultFileSystem } from '@palimpsest/testkit'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { nodeFileSystem } from '../../src/index.ts'
import { scratch } from './scratch.ts'
import { id, isClean, openStore, readAll } from './support.ts'

const place = scratch()

/** Longer than any test: only a flush writes. */
const maxBatchDelayMs = 10_000_000

function say(session: Session, text: string): SessionEvent {
  const data = {
    id: messageId(`u${session.length}`),
    role: 'user',
    content: [{ type: 'text', text }],
    source: { kind: 'user' },
  } as const
  return session.append('user/message', data, { surfaceOp: 'append' })
}

async function live() {
  const root = place.fresh()
  const faults = faultFileSystem(nodeFileSystem)
  const store = openStore(root, faults.fileSystem)
  const session = Session.create({ id })
  const handle = await store.create(session.header)
  const errors: unknown[] = []
  const persisted = persistSession(session, handle, { maxBatchDelayMs, onError: (error) => errors.push(error) })
  return { root, faults, store, session, persisted, errors }
}

const writing = ['open', 'mkdir', 'link', 'rename', 'write', 'datasync', 'sync', 'syncDirectory']

describe('DK-01: a disk that is full for a while', () => {
  it('shows at once, keeps the events in order, and flush writes all of them when there is space', async () => {
    const { root, faults, store, session, persisted, errors } = await live()
    say(session, 'e1')
    await persisted.flush()
    const full = faults.inject({ operation: writing, code: 'ENOSPC' })
    say(session, 'e2')
    await expect(persisted.flush()).rejects.toMatchObject({ cause: { code: 'ENOSPC' } })
    expect(persisted.status).toBe('degraded')
    say(session, 'e3')
    await expect(persisted.flush()).rejects.toMatchObject({ cause: { code: 'ENOSPC' } })
    expect(errors).toHaveLength(1)
    expect((await readAll(root)).events).toEqual(session.events.slice(0, 1))
    full.heal()
    say(session, 'e4')
    await persisted.flush()
    expect(persisted.status).toBe('ok')
    expect(persisted.pending).toBe(0)
    const { events, recovered } = await readAll(root)
    expect(events).toEqual(session.events)
    expect(events).toHaveLength(4)
    expect(isClean(recovered)).toBe(true)
    await persisted.close()
    await store.close()
  })

  it('that never heals: every flush rejects, and what was acknowledged is all that is there', async () => {
    const { root, faults, store, session, persisted } = await live()
    say(session, 'e1')
    await persisted.flush()
    faults.inject({ operation: writing, code: 'ENOSPC' })
    for (const text of ['e2', 'e3', 'e4']) {
      say(session, text)
      await expect(persisted.flush()).rejects.toMatchObject({ cause: { code: 'ENOSPC' } })
    }
    await expect(persisted.close()).rejects.toMatchObject({ cause: { code: 'ENOSPC' } })
    expect((await readAll(root)).events).toEqual(session.events.slice(0, 1))
    await store.close()
  })

  it('from the first event on: nothing is there until there is space, then everything', async () => {
    const { root, faults, store, session, persisted } = await live()
    const full = faults.inject({ operation: writing, code: 'ENOSPC' })
    say(session, 'e1')
    await expect(persisted.flush()).rejects.toMatchObject({ cause: { code: 'ENOSPC' } })
    say(session, 'e2')
    full.heal()
    await persisted.flush()
    expect((await readAll(root)).events).toEqual(session.events)
    await persisted.close()
    await store.close()
  })
})

describe('write-behind over a disk that fails and heals', () => {
  const fault = fc.oneof(
    fc.record({
      operation: fc.constant('write'),
      bytes: fc.nat(400),
      code: fc.constantFrom('ENOSPC', 'EIO'),
      times: fc.integer({ min: 1, max: 3 }),
    }),
    fc.record({ operation: fc.constant('write'), bytes: fc.nat(400), times: fc.integer({ min: 1, max: 3 }) }),
    fc.record({
      operation: fc.constantFrom('datasync', 'open', 'link', 'sync', 'syncDirectory'),
      code: fc.constantFrom('EIO', 'EACCES'),
      times: fc.integer({ min: 1, max: 3 }),
      happens: fc.boolean(),
    }),
  )
  const step = fc.oneof(
    { weight: 3, arbitrary: fc.constant('say' as const) },
    { weight: 2, arbitrary: fc.constant('flush' as const) },
    { weight: 1, arbitrary: fc.record({ fault }) },
  )

  it('a flush that resolves means that all is there in order, and the last one writes everything', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 30 }), async (steps) => {
        const { root, faults, store, session, persisted } = await live()
        const active: { heal(): void }[] = []
        for (const one of steps) {
          if (one === 'say') say(session, `${session.length} é`)
          else if (one !== 'flush') active.push(faults.inject(one.fault))
          else if (
            session.length > 0 &&
            (await persisted.flush().then(
              () => true,
              () => false,
            ))
          )
            expect((await readAll(root)).events).toEqual(session.events)
        }
        for (const each of active) each.heal()
        say(session, 'last')
        if (persisted.status !== 'poisoned') await persisted.flush()
        expect(persisted.status).toBe('ok')
        expect((await readAll(root)).events).toEqual(session.events)
        await persisted.close()
        await store.close()
      }),
      { numRuns: 60 },
    )
  })
})
