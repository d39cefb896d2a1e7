import { claudeCodeSamples, isSampleAbsent, samplePath, samplesOf } from '@palimpsest/testkit'
import { describe, expect, it } from 'vitest'
import type { ImportEntry } from '../src/commands/import.ts'
import { palimpsest, scratch } from './support.ts'

/** Calls of the first session of a file, and how many of them it answers. */
const facts: Readonly<Record<string, readonly [calls: number, answered: number]>> = {
  'ac-full-session-askuserquestion.jsonl': [3, 2],
  'ccl-29ccd257.agent-a2271d1.jsonl': [24, 24],
  'ccl-ef958aa1.jsonl': [40, 40],
}

const otherFacts: Readonly<Record<string, readonly [calls: number, answered: number]>> = {
  'codex/lp-rollout-2026-02-23T13-19-38.jsonl': [1, 0],
  'pi/pim-before-compaction.jsonl': [454, 448],
}

async function imported(root: string, ...files: string[]): Promise<ImportEntry[]> {
  const { exit, err, json } = await palimpsest(
    ['import', ...files.map((file) => (file.startsWith('--') ? file : samplePath(file))), '--json'],
    { root },
  )
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

const others = (['codex', 'pi', 'deepseek-harness'] as const).flatMap(samplesOf)

describe.skipIf(others.length === 0)('real sessions of other agents', () => {
  it.each(others)('are imported, and pass verify with exit code 0: %s', async (name) => {
    const root = scratch()
    const [session, ...more] = await imported(root, name, '--normalised')
    expect(more).toEqual([])
    const verified = await palimpsest(['verify', session?.id ?? '', '--json'], { root })
    expect([verified.exit, verified.json]).toEqual([0, { ok: true, findings: [] }])
    const [calls, answered] = otherFacts[name] ?? []
    if (calls !== undefined) expect(session).toMatchObject({ calls, answered })
  })

  it('show what a compaction of pi shadowed, call by call', async () => {
    const root = scratch()
    const [session] = await imported(root, 'pi/pim-before-compaction.jsonl')
    const { json } = await palimpsest(['surface', session?.id ?? '', '--json'], { root })
    expect(json).toMatchObject({ replaceGeneration: 2 })
    const log = await palimpsest(['export', session?.id ?? '', '--to', 'jsonl'], { root })
    const replacements = log.out
      .split('\n')
      .flatMap((line) => (line.includes('"op":"replace"') ? [JSON.parse(line) as Replacement] : []))
    expect(replacements).toHaveLength(2)
    const shown = (await palimpsest(['show', session?.id ?? ''], { root })).out.split('\n')
    for (const { sourceEventSeqs } of replacements) {
      const [covered = -1] = sourceEventSeqs
      const explained = await palimpsest(['explain', session?.id ?? '', String(covered), '--json'], { root })
      expect(explained.json).toMatchObject({ onSurface: false })
      expect(shown.some((line) => new RegExp(`^○ +${covered} .*under [0-9]+\\]`).test(line))).toBe(true)
    }
  })
})

interface Replacement {
  readonly sourceEventSeqs: readonly number[]
}
