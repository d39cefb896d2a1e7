import type { LineRecord } from './record.ts'

/** The lines of one lane as a graph. Lines are named by their position in the lane. FORMATS 1.4. */
export interface LineGraph {
  readonly records: readonly LineRecord[]
  /** The last line with this uuid before `bound`: a re-appended line supersedes the one before it. */
  resolve(uuid: string | undefined, bound: number): number | undefined
  /** The boundary that keeps the line at `position` visible, looking from lines between it and `bound`. */
  keptBy(position: number, bound: number): number | undefined
  /** The line before this one in the conversation, as seen from lines before `bound`. */
  previous(position: number, bound: number): number | undefined
  /** Whether the history the model saw begins anew here: at a boundary, or at a summary that has none. */
  isMark(position: number, bound: number): boolean
}

export function lineGraph(records: readonly LineRecord[]): LineGraph {
  const places = new Map<string, number[]>()
  records.forEach(({ uuid }, position) => {
    if (uuid === undefined) return
    const known = places.get(uuid)
    if (known === undefined) places.set(uuid, [position])
    else known.push(position)
  })
  const resolve = (uuid: string | undefined, bound: number): number | undefined =>
    uuid === undefined ? undefined : places.get(uuid)?.findLast((position) => position < bound)

  const kept = new Map<string, number[]>()
  records.forEach((record, boundary) => {
    for (const uuid of preservedUuids(records, resolve, record, boundary)) {
      const known = kept.get(uuid)
      if (known === undefined) kept.set(uuid, [boundary])
      else known.push(boundary)
    }
  })
  const keptBy = (position: number, bound: number): number | undefined =>
    kept.get(records[position]?.uuid ?? '')?.findLast((boundary) => boundary > position && boundary < bound)

  const previous = (position: number, bound: number): number | undefined => {
    const boundary = keptBy(position, bound)
    // A kept message hangs below the summary now, whatever its own line says.
    if (boundary !== undefined) return resolve(records[boundary]?.preserved?.anchor, bound) ?? boundary
    return resolve(records[position]?.parent, bound)
  }
  const isMark = (position: number, bound: number): boolean => {
    if (records[position]?.kind === 'boundary') return true
    if (records[position]?.userClass !== 'summary') return false
    const passed = new Set<number>()
    let above = previous(position, bound)
    while (above !== undefined && records[above]?.kind === 'other' && !passed.has(above)) {
      passed.add(above)
      above = previous(above, bound)
    }
    return records[above ?? -1]?.kind !== 'boundary'
  }
  return { records, resolve, keptBy, previous, isMark }
}

function preservedUuids(
  records: readonly LineRecord[],
  resolve: LineGraph['resolve'],
  record: LineRecord,
  boundary: number,
): ReadonlySet<string> {
  const uuids = new Set(record.preserved?.uuids)
  const head = record.preserved?.head
  let position = resolve(record.preserved?.tail, boundary)
  const run = new Set<string>()
  while (position !== undefined) {
    const uuid = records[position]?.uuid ?? ''
    if (run.has(uuid)) return uuids
    run.add(uuid)
    if (uuid === head) return new Set([...uuids, ...run])
    position = resolve(records[position]?.parent, boundary)
  }
  return uuids
}
