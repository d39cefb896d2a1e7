import { SessionFormatError } from '@palimpsest/session-format'
import { TranscriptError } from '../src/index.ts'
import type { ImportedSession } from '../src/index.ts'
import { fuzz } from './fuzz.ts'
import type { FuzzReport } from './fuzz.ts'
import { expectSound, expectSoundSessions } from './import-laws.ts'
import { importBytes } from './support.ts'
import type { TangledFormat } from './tangled-files.ts'

/** Imports mutations of files of one format: each is sound and loses no line, or is refused as a whole with a code. */
export function fuzzImporter(
  { importer, files, isByLine }: TangledFormat,
  numRuns: number,
  more: readonly (readonly string[])[] = [],
): Promise<FuzzReport> {
  return fuzz<ImportedSession[] | 'refused'>({
    // What was written by us is small and holds every kind of line: half of the inputs are of it.
    files: [
      ...files,
      ...more.flatMap((file, at) => [file, ...files.slice(at % files.length, (at % files.length) + 1)]),
    ],
    numRuns,
    run: async (bytes) => {
      try {
        return await importBytes(bytes, { importer })
      } catch (error) {
        if (error instanceof TranscriptError || error instanceof SessionFormatError) return 'refused'
        throw error
      }
    },
    check: (imported, bytes) => {
      if (imported === 'refused') return
      if (isByLine(imported)) expectSound(imported, bytes)
      else expectSoundSessions(imported)
    },
  })
}
