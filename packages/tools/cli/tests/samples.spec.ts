import { claudeCodeSamples, isSampleAbsent, samplePath } from '@palimpsest/testkit'
import { describe, expect, it } from 'vitest'
import type { ImportEntry } from '../src/commands/import.ts'
import { palimpsest, scratch } from './support.ts'

/** Calls of the first session of a file, and how many of them it answers. */
const facts: Readonly<Record<string, readonly [calls: number, answered: number]>> = {
  'ac-full-session-askuserquestion.jsonl': [3, 2],
  'ccl-29ccd257.agent-a2271d1.jsonl': [24, 24],
  'ccl-ef958aa1.jsonl': [40, 40],
}

async function imported(root: string, ...files: string[]): Promise<ImportEntry[]> {
  const { exit, err, json } = await palimpsest(['import', ...files.map(samplePath), '--json'], { root })
  expect([exit, err]).toEqual([0, ''])
  return (json as { sessions: ImportEntry[] }).sessions
}

describe('real sessions of Claude Code', () => {
  for (const name of claudeCodeSamples) {
    it.skipIf(isSampleAbsent(name))(
      `are imported, and every session passes verify with exit code 0: ${name}`,
      async () => {
        const root = scratch()
        const sessions = await imported(root, name)
        expect(new Set(sessions.map(({ source }) => source))).toEqual(new Set([name]))
        for (const { id } of sessions) {
          const verified = await palimpsest(['verify', id, '--streams', '--json'], { root })
          expect([id, verified.exit, verified.json]).toEqual([id, 0, { ok: true, findings: [] }])
        }
        const [calls, answered] = facts[name] ?? []
        if (calls !== undefined) expect(sessions[0]).toMatchObject({ calls, answered })
      },
    )
  }

  it.skipIf(claudeCodeSamples.some(isSampleAbsent))(
    'are recognised when they are imported again, all into one store',
    async () => {
      const root = scratch()
      const first = await imported(root, ...claudeCodeSamples)
      const again = await imported(root, ...claudeCodeSamples)
      expect(again.map(({ id }) => id)).toEqual(first.map(({ id }) => id))
      expect(again.map(({ warnings }) => warnings[0]?.code)).toEqual(first.map(() => 'import/unchanged'))
      const { json } = await palimpsest(['ls', '--json'], { root })
      expect((json as { sessions: unknown[] }).sessions).toHaveLength(first.length)
    },
  )

  const withAttachments = 'ccl-ef958aa1.jsonl'
  it.skipIf(isSampleAbsent(withAttachments))('say on which lines they hold what could not be mapped', async () => {
    const [session] = await imported(scratch(), withAttachments)
    const attachment = session?.warnings.find(({ code }) => code === 'attachment')
    expect(attachment?.lines).toHaveLength(49)
    expect(attachment?.lines?.[0]).toBe(2)
  })
})
