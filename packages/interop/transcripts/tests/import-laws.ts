import { Session, interruptedTurnClosers, traceFindings } from '@palimpsest/session'
import type { SessionEvent } from '@palimpsest/session'
import { expect } from 'vitest'
import { importVocabulary } from '../src/index.ts'
import type { ImportedSession } from '../src/index.ts'
import { violations } from './providers.ts'

/**
 * The laws of every import: its sessions restore with every rule on, their traces are clean, nothing is left open, every
 * provider takes what they derive, the reports count what is there, and no line of the source is lost.
 */
export function expectSound(imported: readonly ImportedSession[], bytes: Uint8Array): void {
  expectSoundSessions(imported)
  const seen = imported.flatMap(({ session }) => linesOf(session.events))
  expect([...new Set(seen)].sort((a, b) => a - b)).toEqual(filledLines(bytes))
}

/** The same for sources whose pieces are no lines. */
export function expectSoundSessions(imported: readonly ImportedSession[]): void {
  for (const { session, report } of imported) {
    const restored = Session.restore(structuredClone(session), { vocabulary: importVocabulary })
    expect(interruptedTurnClosers(session.events)).toEqual([])
    // A log that was converted event by event has the turns and the ids that its writer gave it.
    const isConverted =
      session.header.importedFrom?.agent === 'deepseek-harness' &&
      report.warnings.every(({ code }) => code !== 'migration/refused')
    if (!isConverted) expect(traceFindings(session.events)).toEqual([])
    const messages = restored.deriveMessages()
    expect(violations(messages)).toEqual([])
    if (!isConverted) expect(new Set(messages.map(({ id }) => id)).size).toBe(messages.length)
    expect(report.messages).toBe(messages.length)
    expect(report.events).toBe(session.events.length)
    expect(report.answered).toBeLessThanOrEqual(report.calls)
    const kept = session.events.flatMap(({ type, data }) => (type === 'import/raw' ? [data.line] : []))
    expect(kept.sort((a, b) => a - b)).toEqual(report.unmapped.map(({ line }) => line))
  }
  expect(new Set(imported.map(({ session }) => session.header.id)).size).toBe(imported.length)
}

/** Lines of the source that the events of a log account for. */
export function linesOf(events: readonly SessionEvent[]): number[] {
  return events.flatMap(({ type, data }) => (type === 'import/raw' ? [data.line] : messageLines(data)))
}

function messageLines(data: unknown): readonly number[] {
  const { source, message, lines } = data as {
    source?: { lines?: number[] }
    message?: { source?: { lines?: number[] } }
    lines?: number[]
  }
  return source?.lines ?? message?.source?.lines ?? lines ?? []
}

function filledLines(bytes: Uint8Array): number[] {
  return new TextDecoder()
    .decode(bytes)
    .split('\n')
    .flatMap((line, index) => (line.trim() === '' ? [] : [index + 1]))
}
