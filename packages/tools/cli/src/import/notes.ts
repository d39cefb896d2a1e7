import type { ImportReport } from '@palimpsest/transcripts'
import { count } from '../render/text.ts'
import type { Kept } from './keep.ts'

/** Something about an import that a person should know; `lines` lists all lines that it is about, where there are many. */
export interface ImportNote {
  /** Counts from 1; 0 where it concerns no single line. */
  readonly line: number
  readonly code: string
  readonly message: string
  readonly lines?: readonly number[]
}

const left: Readonly<Record<string, string>> = {
  state: 'of the agent’s own state, which no model saw',
  system: 'of the agent’s own notices, which no model saw',
  progress: 'of progress that was shown while a tool ran',
  'compaction/boundary': 'marking a compaction, whose summary stands for what it covers',
}

/** All that an import has to say, with every line that it could not map. SPEC 8. */
export function importNotes(report: ImportReport, kept: Kept): ImportNote[] {
  const linesByReason = new Map<string, number[]>()
  for (const { line, reason } of report.unmapped)
    linesByReason.set(reason, [...(linesByReason.get(reason) ?? []), line])
  const notes: ImportNote[] = report.warnings.map((warning) => {
    const lines = linesByReason.get(warning.code)
    if (lines === undefined) return warning
    linesByReason.delete(warning.code)
    return { ...warning, lines }
  })
  for (const [code, lines] of linesByReason) {
    const message = `${count(lines.length, 'line')} ${left[code] ?? `(${code})`}: kept raw, not on the surface`
    notes.push({ line: lines[0] ?? 0, code, message, lines })
  }
  const members = Object.entries(report.leftOut)
  if (members.length > 0) {
    const names = members.map(([name, times]) => `${name} (${times})`).join(', ')
    notes.push({
      line: report.leftOutLines[0] ?? 0,
      code: 'import/left-out',
      message: `members of mapped lines that a log has no place for: ${names}`,
      lines: report.leftOutLines,
    })
  }
  const known = statusNote(kept, report)
  return known === undefined ? notes : [{ line: 0, ...known }, ...notes]
}

function statusNote(
  { id, status, before, added }: Kept,
  { source }: ImportReport,
): Omit<ImportNote, 'line'> | undefined {
  switch (status) {
    case 'unchanged':
      return { code: 'import/unchanged', message: `was imported before as ${id}: nothing was written` }
    case 'extended':
      return {
        code: 'import/extended',
        message: `was imported before; ${count(added, 'new event')} went on from there`,
      }
    case 'changed':
      return {
        code: 'import/changed',
        message: `another log of ${count(before, 'event')} is here as ${id}, and ${source} no longer gives it: nothing was written; \`--again\` imports it beside`,
      }
    default:
      return undefined
  }
}
