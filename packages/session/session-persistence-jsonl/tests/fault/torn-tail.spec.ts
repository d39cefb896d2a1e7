import { sessionSeq, type SessionEvent } from '@palimpsest/session'
import { describe, expect, it, vi } from 'vitest'
import { saidAll } from './support.ts'
import { cutEverywhere } from './torn-tail.ts'

// Disks and processes take their time on a busy machine.
vi.setConfig({ testTimeout: 120_000, hookTimeout: 60_000 })

/** Short, log-only, and with characters of two and four bytes to cut through. */
function noted(seq: number): SessionEvent {
  return {
    type: 'request/context',
    seq: sessionSeq(seq),
    time: 1_700_000_000_000,
    data: { provider: 'é', model: '😀' },
  }
}

describe.each(['with marks', 'without marks'] as const)(
  'a log %s cut at every byte of its last three records',
  (marks) => {
    it('opens unchanged for read, and for write recovers, appends and reopens clean', async () => {
      const cuts = await cutEverywhere([saidAll(0, 1), [noted(1)], [noted(2)], [noted(3)]], marks)
      expect(cuts).toBeGreaterThan(250)
    })
  },
)
