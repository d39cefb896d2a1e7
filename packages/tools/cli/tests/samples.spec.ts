import { basename } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { ImportEntry } from '../src/commands/import.ts'
import { palimpsest, sampleFiles, scratch } from './support.ts'

const files = sampleFiles()
const facts: Readonly<Record<string, readonly [calls: number, answered: number]>> = {
  'ccl-29ccd257.agent-a2271d1.jsonl': [24, 24],
  'ccl-ef958aa1.jsonl': [40, 40],
}

describe('real sessions of Claude Code', () => {
  it('are imported, and every session passes verify with exit code 0', async ({ annotate }) => {
    if (files.length < 12) await annotate(`skipped ${12 - files.length} of 12 samples: ../shared/samples is not there`)
    if (files.length === 0) return
    const root = scratch()
    const imported = await palimpsest(['import', ...files, '--json'], { root })
    expect(imported.err).toBe('')
    expect(imported.exit).toBe(0)
    const { sessions } = imported.json as { sessions: ImportEntry[] }
    expect(new Set(sessions.map(({ source }) => source))).toEqual(new Set(files.map((path) => basename(path))))
    for (const { id } of sessions) {
      const verified = await palimpsest(['verify', id, '--streams', '--json'], { root })
      expect([id, verified.exit, verified.json]).toEqual([id, 0, { ok: true, findings: [] }])
    }
    for (const [source, [calls, answered]] of Object.entries(facts)) {
      expect(sessions.find((entry) => entry.source === source)).toMatchObject({ calls, answered })
    }
    const unanswered = sessions.find(({ source }) => source === 'ac-full-session-askuserquestion.jsonl')
    expect(unanswered && unanswered.calls - unanswered.answered).toBe(1)
  })

  it('are recognised when they are imported again', async () => {
    if (files.length === 0) return
    const root = scratch()
    const first = await palimpsest(['import', ...files.slice(0, 3), '--json'], { root })
    const again = await palimpsest(['import', ...files.slice(0, 3), '--json'], { root })
    expect(again.exit).toBe(0)
    const idsOf = ({ json }: { json: unknown }): string[] =>
      (json as { sessions: ImportEntry[] }).sessions.map(({ id }) => id)
    expect(idsOf(again)).toEqual(idsOf(first))
    const { json } = await palimpsest(['ls', '--json'], { root })
    expect((json as { sessions: unknown[] }).sessions).toHaveLength(idsOf(first).length)
    expect(again.out).toContain('import/unchanged')
  })

  it('say on which lines they hold what could not be mapped', async () => {
    const path = files.find((each) => each.endsWith('ccl-ef958aa1.jsonl'))
    if (path === undefined) return
    const { json } = await palimpsest(['import', path, '--json'], { root: scratch() })
    const [session] = (json as { sessions: ImportEntry[] }).sessions
    const attachment = session?.warnings.find(({ code }) => code === 'attachment')
    expect(attachment?.lines).toHaveLength(49)
    expect(attachment?.lines?.[0]).toBe(2)
  })
})
