import type { LineRecord } from './record.ts'

/** The lines of one conversation of a file: the user's own, or that of one subagent. FORMATS 1. */
export interface Lane {
  readonly sessionId: string
  /** The session that delegated to this subagent; absent for the user's own conversation. */
  readonly parent?: string
  /** In file order. Every line of the file is in exactly one lane. */
  readonly records: readonly LineRecord[]
}

/**
 * Splits a file into its conversations. Lines that name no conversation stay with the user's own, or with the first
 * subagent where the file holds nothing else.
 */
export function splitLanes(records: readonly LineRecord[], fileName: string): Lane[] {
  const laneOf = sidechainFinder(records)
  const main: LineRecord[] = []
  const sidechains = new Map<string, LineRecord[]>()
  for (const record of records) {
    const lane = laneOf(record)
    if (lane === undefined) main.push(record)
    else if (sidechains.has(lane)) sidechains.get(lane)?.push(record)
    else sidechains.set(lane, [record])
  }
  const id = mainId(main, records, fileName)
  const taken = new Set([id])
  const lanes: Lane[] = []
  for (const [lane, lines] of sidechains) {
    const parent = lines.find((line) => line.session !== undefined)?.session ?? id
    lanes.push({ sessionId: untaken(taken, parent, lane), parent, records: lines })
  }
  const hasOwn = main.some((line) => line.kind === 'user' || line.kind === 'assistant' || line.kind === 'boundary')
  const [first, ...rest] = lanes
  if (hasOwn || first === undefined) return main.length > 0 ? [{ sessionId: id, records: main }, ...lanes] : lanes
  return [{ ...first, records: [...first.records, ...main].sort((a, b) => a.line - b.line) }, ...rest]
}

/** A subagent's lane is its agent id, or the root of its lines where old versions wrote none. */
function sidechainFinder(records: readonly LineRecord[]): (record: LineRecord) => string | undefined {
  const byUuid = new Map<string, LineRecord>()
  for (const record of records) if (record.uuid !== undefined && record.sidechain) byUuid.set(record.uuid, record)
  const known = new Map<LineRecord, string>()
  return (record) => {
    if (!record.sidechain) return undefined
    if (record.agent !== undefined) return record.agent
    const trail = new Set<LineRecord>()
    let at = record
    for (;;) {
      const above = at.parent === undefined ? undefined : byUuid.get(at.parent)
      const found = known.get(at) ?? (above === undefined || trail.has(at) ? (at.uuid ?? `line${at.line}`) : undefined)
      trail.add(at)
      if (found === undefined && above !== undefined) at = above
      else {
        for (const passed of trail) known.set(passed, found ?? '')
        return found
      }
    }
  }
}

/** Several ids stand in one file after an old resume. The file's own name decides, else the last line's. */
function mainId(main: readonly LineRecord[], all: readonly LineRecord[], fileName: string): string {
  const stem = fileName.replace(/\.jsonl$/i, '')
  const ids = [...main, ...all].flatMap((line) => line.session ?? [])
  if (ids.includes(stem)) return stem
  const last = main.findLast(
    (line) => line.session !== undefined && (line.kind === 'user' || line.kind === 'assistant'),
  )
  return last?.session ?? ids[0] ?? (stem === '' ? 'claude-code' : stem)
}

function untaken(taken: Set<string>, parent: string, lane: string): string {
  const short = `${parent}.agent-${lane.replace(/^([0-9a-f]{8})-[0-9a-f-]{27}$/, '$1')}`
  const id = taken.has(short) ? `${parent}.agent-${lane}` : short
  taken.add(id)
  return id
}
