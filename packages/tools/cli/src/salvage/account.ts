import type { Section, SalvagePart } from './sections.ts'
import type { Place } from './write.ts'

/**
 * What became of a part of the damaged log. `header`: it is the header of the new sessions. `event`: an event of one.
 * `raw`: kept as it stood in a `salvage/raw` event. `repeat`: it is there once more. `nul`, `blank`: it says nothing.
 */
export type Became = 'header' | 'event' | 'repeat' | 'raw' | 'nul' | 'blank'

/** One part of the damaged log; together they are all of it, in order, without gap or overlap. */
export interface AccountedPart {
  /** Bytes of the damaged log: `start` inclusive, `end` exclusive. */
  readonly start: number
  readonly end: number
  /** Line of the damaged log, from 1. */
  readonly line: number
  readonly became: Became
  /** The seq that the record has in the damaged log. */
  readonly seq?: number
  /** The new session that holds it, the first where several do, and as which event. Absent where none was written. */
  readonly session?: string
  readonly keptAs?: number
  /** Of what is kept raw. */
  readonly reason?: string
}

/** Bytes by what became of them. */
export type ByteSums = Readonly<Record<'header' | 'records' | 'repeats' | 'raw' | 'nul' | 'blank', number>>

const sumOf: Readonly<Record<Became, keyof ByteSums>> = {
  header: 'header',
  event: 'records',
  repeat: 'repeats',
  raw: 'raw',
  nul: 'nul',
  blank: 'blank',
}

/** A new session and what it holds. */
export interface Holder {
  readonly id: string
  readonly places: ReadonlyMap<SalvagePart, Place>
  /** Whether it is in the store. */
  readonly isWritten: boolean
}

/** Every part of the damaged log in order, and the sums of their bytes. Pure. */
export function accountFor(
  sections: readonly Section[],
  repeats: ReadonlySet<SalvagePart>,
  holders: readonly Holder[],
): { readonly parts: readonly AccountedPart[]; readonly bytes: ByteSums } {
  const places = new Map<SalvagePart, Place & { readonly session: string | undefined }>()
  for (const { id, places: held, isWritten } of holders)
    for (const [part, place] of held)
      if (!places.has(part)) places.set(part, { ...place, session: isWritten ? id : undefined })
  const bytes = { header: 0, records: 0, repeats: 0, raw: 0, nul: 0, blank: 0 }
  const parts = sections
    .flatMap((section) => section.parts)
    .toSorted((left, right) => left.start - right.start)
    .map((part): AccountedPart => {
      const { start, end, line } = part
      const place = places.get(part)
      const became = repeats.has(part) ? 'repeat' : becameOf(part, place)
      bytes[sumOf[became]] += end - start
      return {
        start,
        end,
        line,
        became,
        ...(part.kind === 'record' ? { seq: part.event.seq } : {}),
        ...(place?.session === undefined ? {} : { session: place.session, keptAs: place.seq }),
        ...(place?.reason === undefined ? {} : { reason: place.reason }),
      }
    })
  return { parts, bytes }
}

function becameOf(part: SalvagePart, place: Place | undefined): Became {
  if (part.kind !== 'record') return part.kind
  return place?.reason === undefined ? 'event' : 'raw'
}
