import { describe, expect, it } from 'vitest'
import { brief, saidAll } from './support.ts'
import { cutEverywhere } from './torn-tail.ts'

describe.each(['with marks', 'without marks'] as const)(
  'a log %s cut at every byte of its last three records',
  (marks) => {
    it('opens unchanged for read, and for write recovers, appends and reopens clean', async () => {
      const cuts = await cutEverywhere([saidAll(0, 1), [brief(1)], [brief(2)], [brief(3)]], marks)
      expect(cuts).toBeGreaterThan(180)
    })
  },
)
