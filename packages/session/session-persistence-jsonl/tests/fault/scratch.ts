import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll } from 'vitest'

/** A place for the directories of one test file, removed after its last test. */
export function scratch(): { readonly path: string; fresh(): string } {
  const path = mkdtempSync(join(tmpdir(), 'palimpsest-fault-'))
  afterAll(() => rmSync(path, { recursive: true, force: true }))
  let made = 0
  return {
    path,
    fresh: () => {
      const directory = join(path, String((made += 1)))
      mkdirSync(directory, { mode: 0o700 })
      return directory
    },
  }
}
