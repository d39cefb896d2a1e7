import { describe, expect, it } from 'vitest'
import { said, saidAll } from './support.ts'
import { cutEverywhere } from './torn-tail.ts'

describe.each(['with marks', 'without marks'] as const)(
  'a log %s cut at every byte of its last three records',
  (marks) => {
    it('recovers when the three are one batch', async () => {
      expect(await cutEverywhere([saidAll(0, 2), saidAll(2, 3)], marks)).toBeGreaterThan(400)
    })

    it('recovers when the last batch begins among the three', async () => {
      expect(await cutEverywhere([saidAll(0, 3), saidAll(3, 2)], marks)).toBeGreaterThan(400)
    })

    it('recovers when payloads quote whole records', async () => {
      const quoted = `${JSON.stringify(said(3))} \n${JSON.stringify(said(4))}\n`
      const events = [said(0), said(1), said(2, quoted), said(3, JSON.stringify(said(4))), said(4, quoted)]
      expect(
        await cutEverywhere(
          events.map((event) => [event]),
          marks,
        ),
      ).toBeGreaterThan(800)
    })
  },
)
