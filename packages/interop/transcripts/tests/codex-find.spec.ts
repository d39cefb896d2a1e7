import { mkdir, mkdtemp, rm, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { findCodexSessions } from '../src/codex/find.ts'
import { CodexFixture } from './codex-fixture.ts'

test('the user’s own Codex sessions are listed newest first, archived ones too, subagents with their parent', async () => {
  const home = await mkdtemp(join(tmpdir(), 'palimpsest-codex-'))
  const put = async (folder: string, name: string, file: CodexFixture, seconds: number): Promise<void> => {
    const path = join(home, '.codex', folder)
    await mkdir(path, { recursive: true })
    await writeFile(join(path, name), file.bytes())
    await utimes(join(path, name), seconds, seconds)
  }
  try {
    const own = new CodexFixture().meta({ id: 'c-1', cwd: '/home/user' }).say('user', 'List the files')
    const agent = new CodexFixture().meta({
      id: 'c-2',
      source: { subagent: { other: 'review' } },
      parent_thread_id: 'c-1',
    })
    await put('sessions/2026/01/01', 'rollout-2026-01-01T00-00-00-c-1.jsonl', own, 2_000)
    await put('sessions/2026/01/01', 'rollout-2026-01-01T00-00-01-c-2.jsonl', agent, 3_000)
    await put(
      'archived_sessions',
      'rollout-2025-01-01T00-00-00-c-3.jsonl',
      new CodexFixture().meta({ id: 'c-3' }),
      1_000,
    )
    await put('sessions', 'notes.jsonl', own, 4_000)
    const found = await findCodexSessions({ home })
    expect(found.map(({ sessionId }) => sessionId)).toEqual(['c-1', 'c-3'])
    expect(found[0]).toMatchObject({ cwd: '/home/user', firstPrompt: 'List the files', modifiedAt: 2_000_000 })
    expect(found[0]?.agentPaths.map((path) => path.replace(/^.*-/, ''))).toEqual(['2.jsonl'])
    const env = { CODEX_HOME: join(home, '.codex') }
    expect(await findCodexSessions({ home: '/nowhere', env })).toEqual(found)
  } finally {
    await rm(home, { recursive: true, force: true })
  }
})
