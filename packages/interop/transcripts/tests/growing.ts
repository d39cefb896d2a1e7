import { Session, traceFindings } from '@palimpsest/session'
import type { SessionEvent, StoredSession } from '@palimpsest/session'
import { expect } from 'vitest'
import { growImport, importVocabulary } from '../src/index.ts'
import { violations } from './providers.ts'
import { importBytes } from './support.ts'
import type { Importer } from './support.ts'

/** What a person reads of a log: its messages, without the parts that count turns. */
const derived = (session: StoredSession): unknown =>
  Session.restore(structuredClone(session), { vocabulary: importVocabulary }).deriveMessages()

export interface GrowthCount {
  extended: number
  regrown: number
  diverged: number
}

/**
 * Imports a file as it was at each of these lengths, one after the other, into one log. The law: where the log could be
 * extended, it derives what an import of the whole derives, nothing of it was rewritten, and importing again adds nothing.
 */
export async function growThrough(
  importer: Importer,
  bytes: Uint8Array,
  lengths: readonly number[],
  count: GrowthCount,
): Promise<void> {
  const logs = new Map<string, readonly SessionEvent[]>()
  for (const length of [...lengths, bytes.length]) {
    const part = bytes.subarray(0, length)
    for (const { session } of await importBytes(part, { importer })) {
      const { id } = session.header
      const here = logs.get(id)
      const growth = here === undefined ? undefined : growImport(here, session.events)
      if (here === undefined || growth === undefined || growth.kind === 'diverged') {
        if (growth !== undefined) count.diverged += 1
        logs.set(id, session.events)
        continue
      }
      if (growth.kind === 'unchanged') continue
      count.extended += 1
      if (growth.events.some(({ type }) => type === 'import/regrown')) count.regrown += 1
      const events = [...here, ...growth.events]
      const grown = { header: session.header, events, inheritedEventCount: 0 }
      expect(derived(grown)).toEqual(derived(session))
      expect(traceFindings(events)).toEqual([])
      expect(
        violations(Session.restore(structuredClone(grown), { vocabulary: importVocabulary }).deriveMessages()),
      ).toEqual([])
      expect(growImport(events, session.events)).toEqual({ kind: 'unchanged' })
      logs.set(id, events)
    }
  }
}
