import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { runPersistenceContract } from '@palimpsest/session-persistence/contract'
import { jsonlPersistence, type LockMode } from '../src/index.ts'

for (const lock of ['kernel', 'lease'] satisfies LockMode[]) {
  runPersistenceContract(`the JSONL store with a ${lock} claim`, () => {
    const root = mkdtempSync(join(tmpdir(), 'palimpsest-contract-'))
    return {
      open: () => jsonlPersistence({ root, lock }),
      dispose: () => Promise.resolve(rmSync(root, { recursive: true, force: true })),
    }
  })
}
