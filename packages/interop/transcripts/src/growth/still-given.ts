import { deriveEventMessage } from '@palimpsest/session'
import type { SessionEvent } from '@palimpsest/session'
import { isObject } from '../json.ts'

/**
 * Whether an import of the source as it is now still gives everything that these events of an earlier one hold: every line
 * they are made of stands in it, raw or with the same content in the same order. A shorter copy does not, nor does a
 * rewritten file; a branch that the source left since does. Pure.
 */
export function isStillGiven(earlier: readonly SessionEvent[], fresh: readonly SessionEvent[]): boolean {
  const byLine = new Map<number, SessionEvent[]>()
  for (const event of fresh) {
    for (const line of sourceLines(event)) {
      const known = byLine.get(line)
      if (known === undefined) byLine.set(line, [event])
      else known.push(event)
    }
  }
  return earlier.every(
    (event) => isTorn(event) || sourceLines(event).every((line) => byLine.get(line)?.some(holds(event)) === true),
  )
}

/** A line that was cut off is whole now, and says what it says. */
const isTorn = (event: SessionEvent): boolean => event.type === 'import/raw' && event.data.reason === 'line/torn'

/** Lines of the source that an event accounts for, from 1. */
export function sourceLines(event: SessionEvent): readonly number[] {
  if (event.type === 'import/raw') return [event.data.line]
  const source: unknown = deriveEventMessage(event)?.source
  const lines = isObject(source) && Object.hasOwn(source, 'lines') ? source['lines'] : []
  return Array.isArray(lines) ? lines.filter((line): line is number => typeof line === 'number') : []
}

function holds(earlier: SessionEvent): (now: SessionEvent) => boolean {
  if (earlier.type === 'import/raw') {
    const { text } = earlier.data
    // A line that was off the surface may have come onto it.
    return (now) => now.type !== 'import/raw' || now.data.text === text
  }
  const wanted = blocksOf(earlier)
  return (now) => now.type === 'import/raw' || isWithin(wanted, blocksOf(now))
}

function blocksOf(event: SessionEvent): readonly string[] {
  return (deriveEventMessage(event)?.content ?? []).map((block) => JSON.stringify(block))
}

/** Whether all of one list stands in another, in order. */
function isWithin(wanted: readonly string[], blocks: readonly string[]): boolean {
  let at = 0
  for (const block of blocks) if (at < wanted.length && block === wanted[at]) at += 1
  return at === wanted.length
}
