import { mkdir, mkdtemp, rm, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { findPiSessions } from '../src/pi/find.ts'
import { tangledPi } from './pi-fixture.ts'

test('the user’s own pi sessions are listed newest first, from the heads of their files', async () => {
  const home = await mkdtemp(join(tmpdir(), 'palimpsest-pi-'))
  try {
    const folder = join(home, '.pi/agent/sessions/--home-user--')
    await mkdir(folder, { recursive: true })
    await writeFile(join(folder, '2026-01-01T00-00-00-000Z_p-1.jsonl'), tangledPi().bytes())
    await writeFile(join(folder, '2026-01-01T00-00-00-000Z_p-2.jsonl'), 'no JSON\n')
    await writeFile(join(folder, 'notes.txt'), 'no session')
    await utimes(join(folder, '2026-01-01T00-00-00-000Z_p-2.jsonl'), 1000, 1000)
    const found = await findPiSessions({ home })
    expect(found).toMatchObject([
      { sessionId: 'p-1', cwd: '/home/user', firstPrompt: 'Look at both', byteLength: tangledPi().bytes().length },
      { sessionId: 'p-2', modifiedAt: 1_000_000, agentPaths: [] },
    ])
    expect(found[1]).not.toHaveProperty('firstPrompt')
    const env = { PI_CODING_AGENT_DIR: join(home, '.pi/agent') }
    expect(await findPiSessions({ home: '/nowhere', env })).toEqual(found)
    expect(await findPiSessions({ home: '/nowhere' })).toEqual([])
  } finally {
    await rm(home, { recursive: true, force: true })
  }
})
