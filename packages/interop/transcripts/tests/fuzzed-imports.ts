import { SessionFormatError } from '@palimpsest/session-format'
import { TranscriptError } from '../src/index.ts'
import type { ImportedSession } from '../src/index.ts'
import { formats, sampleFiles } from './formats.ts'
import type { FormatName, TangledFormat } from './formats.ts'
import { fuzz } from './fuzz.ts'
import type { FuzzReport } from './fuzz.ts'
import { importBytes } from './support.ts'

/** Imports mutations of files of one format: each is sound and loses no line, or is refused as a whole with a code. */
export function fuzzImporter(name: FormatName, numRuns: number, withSamples = false): Promise<FuzzReport> {
  const { importer, files, check, edits }: TangledFormat = formats[name]
  const samples = withSamples ? sampleFiles(name) : []
  return fuzz<ImportedSession[] | 'refused'>({
    // What was written by us is small and holds every kind of line: half of the inputs are of it.
    files: [...files, ...samples.flatMap((file, at) => [file, files[at % files.length] ?? []])],
    ...(edits === undefined ? {} : { edits }),
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
      if (imported !== 'refused') check(imported, bytes)
    },
  })
}
