import { sessionSeq, type SessionEvent } from '@palimpsest/session'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { PersistenceError, SessionConflictError, WriteQueue } from '../src/index.ts'

function event(seq: number): SessionEvent {
  return { type: 'turn/start', seq: sessionSeq(seq), time: 0, data: { turn: seq + 1 } }
}

function events(from: number, end: number): SessionEvent[] {
  return Array.from({ length: end - from }, (_, index) => event(from + index))
}

/** A queue whose writes end when the test says so. */
function controlled(): { queue: WriteQueue<number>; groups: number[][]; settle: (error?: unknown) => Promise<void> } {
  const groups: number[][] = []
  let finish: ((fault?: unknown) => void) | undefined
  const queue = new WriteQueue<number>({
    nextSeq: 0,
    encode: ({ seq }) => seq,
    sizeOf: () => 1,
    write: (items) => {
      groups.push([...items])
      return new Promise((resolve, reject) => {
        finish = (fault) => (fault === undefined ? resolve(true) : reject(fault))
      })
    },
  })
  const tick = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))
  const settle = async (fault?: unknown): Promise<void> => {
    while (finish === undefined) await tick()
    const now = finish
    finish = undefined
    now(fault)
    await tick()
  }
  return { queue, groups, settle }
}

const full = new PersistenceError('io/write', 'disk full')

describe('the write queue', () => {
  it('writes one group at a time, and joins what queued meanwhile to the next', async () => {
    const { queue, groups, settle } = controlled()
    const calls = [queue.append([event(0)]), queue.append([event(1)])]
    await settle()
    calls.push(queue.append(events(2, 4)))
    await settle()
    calls.push(queue.append([event(4)]), queue.append([event(5)]))
    await settle()
    await Promise.all(calls)
    expect(groups).toEqual([
      [0, 1],
      [2, 3],
      [4, 5],
    ])
  })

  it('takes the calls behind a failed group along, and goes on from what is durable', async () => {
    const { queue, groups, settle } = controlled()
    const first = queue.append([event(0)])
    await settle()
    await first
    const failed = [queue.append([event(1)]), queue.append([event(2)])]
    const results = Promise.allSettled(failed)
    await settle(full)
    expect((await results).map((result) => (result.status === 'rejected' ? result.reason : undefined))).toEqual([
      full,
      full,
    ])
    expect([queue.status, queue.nextSeq]).toEqual(['degraded', 1])
    const again = queue.append(events(1, 3))
    await settle()
    await again
    expect([queue.status, queue.nextSeq]).toEqual(['ok', 3])
    expect(groups).toEqual([[0], [1, 2], [1, 2]])
  })

  it('is poisoned by a conflict, with its cause', async () => {
    const { queue, settle } = controlled()
    const conflict = new SessionConflictError('another writer was here')
    const call = queue.append([event(0)])
    const reason = call.catch((error: unknown) => error)
    await settle(conflict)
    expect(await reason).toBe(conflict)
    expect(queue.status).toBe('poisoned')
    await expect(queue.append([event(0)])).rejects.toMatchObject({ code: 'handle/poisoned', cause: conflict })
    await expect(queue.touch()).rejects.toMatchObject({ code: 'handle/poisoned' })
    await queue.close()
    expect(queue.status).toBe('closed')
  })

  it('refuses a bad call without touching those around it', async () => {
    const { queue, groups, settle } = controlled()
    const good = queue.append([event(0)])
    await expect(queue.append([event(1), event(3)])).rejects.toMatchObject({ code: 'session/conflict' })
    await expect(queue.append([{ ...event(1), time: Number.NaN }])).rejects.toMatchObject({ code: 'event/invalid' })
    expect([queue.status, queue.nextSeq]).toEqual(['ok', 1])
    await settle()
    await good
    expect(groups).toEqual([[0]])
  })

  it('closes after what is queued, and refuses what comes later', async () => {
    const { queue, settle } = controlled()
    const call = queue.append([event(0)])
    const closed = queue.close()
    await expect(queue.append([event(1)])).rejects.toMatchObject({ code: 'handle/closed' })
    await settle()
    await Promise.all([call, closed])
    await queue.close()
  })

  it('acknowledges exactly what is durable, in order and without gap, however writes fail', async () => {
    const step = fc.record({ count: fc.integer({ min: 1, max: 3 }), fails: fc.boolean(), waits: fc.boolean() })
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 20 }), async (steps) => {
        const durable: number[] = []
        const fails: boolean[] = []
        const queue = new WriteQueue<number>({
          nextSeq: 0,
          encode: ({ seq }) => seq,
          sizeOf: () => 1,
          write: async (items) => {
            await Promise.resolve()
            if (fails.shift() === true) throw full
            durable.push(...items)
            return true
          },
        })
        const acknowledged: number[] = []
        for (const { count, fails: isFailing, waits } of steps) {
          fails.push(isFailing)
          const batch = events(queue.nextSeq, queue.nextSeq + count)
          const call = queue.append(batch).then(
            () => acknowledged.push(...batch.map(({ seq }) => seq)),
            () => undefined,
          )
          if (waits) await call
        }
        await queue.close()
        await Promise.resolve()
        expect(durable).toEqual(durable.map((_, index) => index))
        expect([...acknowledged].sort((left, right) => left - right)).toEqual(durable)
      }),
      { numRuns: 500 },
    )
  })
})
