import type { LineRecord, Preserved } from './record.ts'

/** The lines of one lane as a graph. Lines are named by their position in the lane. FORMATS 1.4. */
export interface LineGraph {
  readonly records: readonly LineRecord[]
  /** The last line with this uuid before `bound`: a re-appended line supersedes the one before it. */
  resolve(uuid: string | undefined, bound: number): number | undefined
  /** Uuids of the messages that the boundary at `position` keeps visible. */
  keptAt(position: number): ReadonlySet<string>
  /** Positions of the lines of one API response, and of the lines that answer a call id, in file order. */
  inGroup(group: string): readonly number[]
  answering(callId: string): readonly number[]
  /** The line before this one in the conversation, as seen from lines before `bound`. */
  previous(position: number, bound: number): number | undefined
  /** Whether the history the model saw begins anew here: at a boundary, or at a summary that has none. */
  isMark(position: number, bound: number): boolean
}

export function lineGraph(records: readonly LineRecord[]): LineGraph {
  const places = new Map<string, number[]>()
  const groups = new Map<string, number[]>()
  const answers = new Map<string, number[]>()
  for (const [position, { uuid, group, results }] of records.entries()) {
    if (uuid !== undefined) put(places, uuid, position)
    if (group !== undefined) put(groups, group, position)
    for (const callId of results) put(answers, callId, position)
  }
  const resolve = (uuid: string | undefined, bound: number): number | undefined =>
    uuid === undefined ? undefined : lastBelow(places.get(uuid) ?? [], bound)

  const kept = new Map<number, ReadonlySet<string>>()
  const keepers = new Map<string, number[]>()
  for (const [boundary, { preserved }] of records.entries()) {
    if (preserved === undefined) continue
    const uuids = preservedUuids(records, resolve, preserved, boundary)
    kept.set(boundary, uuids)
    for (const uuid of uuids) put(keepers, uuid, boundary)
  }
  /** The boundary that keeps this line visible, looking from lines between that boundary and `bound`. */
  const keptBy = (position: number, bound: number): number | undefined =>
    keepers.get(records[position]?.uuid ?? '')?.findLast((boundary) => boundary > position && boundary < bound)

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
  return {
    records,
    resolve,
    keptAt: (position) => kept.get(position) ?? new Set(),
    inGroup: (group) => groups.get(group) ?? [],
    answering: (callId) => answers.get(callId) ?? [],
    previous,
    isMark,
  }
}

function put<Key>(map: Map<Key, number[]>, key: Key, position: number): void {
  const known = map.get(key)
  if (known === undefined) map.set(key, [position])
  else known.push(position)
}

function preservedUuids(
  records: readonly LineRecord[],
  resolve: LineGraph['resolve'],
  preserved: Preserved,
  boundary: number,
): ReadonlySet<string> {
  const uuids = new Set(preserved.uuids)
  let position = resolve(preserved.tail, boundary)
  const run = new Set<string>()
  while (position !== undefined) {
    const uuid = records[position]?.uuid ?? ''
    if (run.has(uuid)) return uuids
    run.add(uuid)
    if (uuid === preserved.head) return new Set([...uuids, ...run])
    position = resolve(records[position]?.parent, boundary)
  }
  return uuids
}

/** The last of ascending positions below `bound`. */
function lastBelow(positions: readonly number[], bound: number): number | undefined {
  let [low, high] = [0, positions.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((positions[middle] ?? Infinity) < bound) low = middle + 1
    else high = middle
  }
  return positions[low - 1]
}
