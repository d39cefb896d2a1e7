import { Session, traceFindings } from '@palimpsest/session'
import { expect, test } from 'vitest'
import { importVocabulary } from '../src/index.ts'
import { importBytes, sampleBytes, sampleNames } from './support.ts'

test.each(sampleNames)('try %s', async (name) => {
  for (const { session, report } of await importBytes(sampleBytes(name), name)) {
    const { unmapped, warnings, ...rest } = report
    console.log(JSON.stringify(rest), '\n' + warnings.map((w) => JSON.stringify(w)).join('\n'), session.header)
    Session.restore(structuredClone(session), { vocabulary: importVocabulary })
    console.log(traceFindings(session.events))
  }
})
