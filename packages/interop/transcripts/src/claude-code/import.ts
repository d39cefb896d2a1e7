import { Session } from '@palimpsest/session'
import type { SessionId, SessionSeq } from '@palimpsest/session'
import { TranscriptError } from '../errors.ts'
import { importVocabulary } from '../events.ts'
import { lineText, parseLine, readLines } from '../lines.ts'
import type { SourceLine } from '../lines.ts'
import type { ImportReport, ImportWarning, UnmappedLine } from '../report.ts'
import { isObject } from '../json.ts'
import { splitLanes } from './lanes.ts'
import { agent } from './messages.ts'
import { membersLeftOut, readPart } from './parts.ts'
import type { LinePart } from './parts.ts'
import { countCalls } from '../conversation/report-of.ts'
import { sourceName } from '../source.ts'
import type { AttachmentSink, ImportOptions, ImportedSession, TranscriptSource } from '../source.ts'
import { planLane } from './plan.ts'
import { rawWarnings } from '../raw-reasons.ts'
import type { LanePlan } from './plan.ts'
import { recordLine } from './record.ts'
import type { LineRecord } from './record.ts'
import { ConversationWriter } from './writer.ts'
import type { RawLine } from './writer.ts'

/**
 * Imports a Claude Code session file: the user's own conversation first, then one session for each subagent in it.
 * Foreign, torn or contradictory lines never stop it: they are kept raw and reported. Throws `TranscriptError`
 * `source/changed` where the file is rewritten meanwhile, and what the source or the sink throw. SPEC 8.
 */
export async function* importClaudeCode(
  source: TranscriptSource,
  options: ImportOptions,
): AsyncGenerator<ImportedSession> {
  const name = sourceName(source)
  const records: LineRecord[] = []
  for await (const line of readLines(source.bytes())) records.push(recordLine(line))
  const plans = splitLanes(records, name).map(planLane)
  const contents = plans.map((plan) => new LaneContents(plan, options.attachments(plan.lane.sessionId as SessionId)))
  await readContents(source, records, contents)
  for (const content of contents) yield writeLane(content, name)
}

/** Second pass: content of the lines that a plan maps, text of those that it keeps. */
class LaneContents {
  readonly plan: LanePlan
  readonly parts = new Map<number, LinePart>()
  readonly raws: RawLine[] = []
  readonly leftOut: Record<string, number> = Object.create(null) as Record<string, number>
  readonly leftOutLines: number[] = []
  readonly #sink: AttachmentSink

  constructor(plan: LanePlan, sink: AttachmentSink) {
    this.plan = plan
    this.#sink = sink
  }

  async add(record: LineRecord, bytes: Uint8Array): Promise<void> {
    const { line, offset, time } = record
    const text = lineText(bytes)
    const reason = this.plan.raw.get(line)
    if (reason !== undefined) {
      const kept =
        text === undefined ? ({ text: Buffer.from(bytes).toString('base64'), encoding: 'base64' } as const) : { text }
      this.raws.push({ line, offset, reason, ...kept, ...(time === undefined ? {} : { time }) })
    }
    if (!this.plan.mapped.has(line)) return
    const value = text === undefined ? undefined : parseLine(text)
    if (!isObject(value)) throw changed(line)
    const part = await readPart(value, this.#sink)
    const isSame =
      part.kind === 'user'
        ? record.kind === 'user' && part.results.length === record.results.length
        : record.kind === 'assistant' && callCount(part.blocks) === record.calls.length
    if (!isSame) throw changed(line)
    this.parts.set(line, part)
    const members = membersLeftOut(value)
    if (members.length > 0) this.leftOutLines.push(line)
    for (const member of members) this.leftOut[member] = (this.leftOut[member] ?? 0) + 1
  }
}

const callCount = (blocks: readonly { readonly block: { readonly type: string } }[]): number =>
  blocks.filter(({ block }) => block.type === 'tool-call').length

const changed = (line: number): TranscriptError =>
  new TranscriptError(
    'source/changed',
    `line ${line} is not what it was a moment ago: import again when nothing rewrites the file`,
  )

async function readContents(
  source: TranscriptSource,
  records: readonly LineRecord[],
  lanes: readonly LaneContents[],
): Promise<void> {
  const laneOf = new Map(lanes.flatMap((lane) => lane.plan.lane.records.map((record) => [record.line, lane] as const)))
  let next = 0
  for await (const line of readLines(source.bytes())) {
    const record = records[next]
    // Lines that were appended since the first pass belong to the next import.
    if (record === undefined) return
    await laneOf.get(line.line)?.add(record, knownBytes(line, record, next === records.length - 1))
    next += 1
  }
  const missing = records[next]
  if (missing !== undefined) throw changed(missing.line)
}

function knownBytes({ line, offset, bytes }: SourceLine, record: LineRecord, isLast: boolean): Uint8Array {
  const fits = isLast ? bytes.length >= record.byteLength : bytes.length === record.byteLength
  if (offset !== record.offset || !fits) throw changed(line)
  return bytes.subarray(0, record.byteLength)
}

function writeLane(content: LaneContents, name: string): ImportedSession {
  const { plan, parts, raws } = content
  const { records, sessionId, parent } = plan.lane
  let time = records.find((record) => record.time !== undefined)?.time ?? 0
  const cwd = records.find((record) => /^(\/|[A-Za-z]:[\\/])/.test(record.cwd ?? ''))?.cwd
  const session = Session.create({
    id: sessionId,
    createdAt: time,
    importedFrom: { agent, source: name },
    vocabulary: importVocabulary,
    now: () => time,
    ...(cwd === undefined ? {} : { cwd }),
    ...(parent === undefined ? {} : { parentSession: parent, origin: 'subagent', delegationDepth: 1 }),
  })
  const setTime = (to: number): void => void (time = to)
  const writer = new ConversationWriter({
    session,
    setTime,
    records,
    items: plan.items,
    outline: plan.outline,
    parts,
    raws,
  })
  const synthetic = writer.write()
  const warnings = [...plan.warnings, ...rawWarnings(plan.raw), ...writer.warnings].sort((a, b) => a.line - b.line)
  const stored = { header: session.header, events: session.events, inheritedEventCount: 0 }
  return { session: stored, report: reportOf(content, session, synthetic, warnings, name) }
}

function reportOf(
  { plan, leftOut, leftOutLines }: LaneContents,
  session: Session,
  synthetic: ReadonlySet<SessionSeq>,
  warnings: readonly ImportWarning[],
  source: string,
): ImportReport {
  const { calls, answered } = countCalls(session.events, synthetic)
  const unmapped = plan.lane.records.flatMap(({ line, type }): UnmappedLine[] => {
    const reason = plan.raw.get(line)
    return reason === undefined ? [] : [{ line, reason, ...(type === undefined ? {} : { type }) }]
  })
  return {
    source,
    sessionId: session.id,
    events: session.length,
    messages: session.deriveMessages().length,
    calls,
    answered,
    lines: { total: plan.lane.records.length, mapped: plan.mapped.size, raw: plan.raw.size, blank: plan.blank },
    warnings,
    unmapped,
    leftOut: { ...leftOut },
    leftOutLines,
  }
}
