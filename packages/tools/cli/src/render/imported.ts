import type { Cli } from '../cli.ts'
import type { ImportEntry } from '../commands/import.ts'
import type { KeptStatus } from '../import/keep.ts'
import type { ImportNote } from '../import/notes.ts'
import { argument, clip, count, oneLine } from './text.ts'

const SHOWN_NOTES = 8
const SHOWN_LINES = 6

const marks: Readonly<Record<KeptStatus, string>> = { imported: '+', extended: '+', unchanged: '=', changed: '!' }

/** What was imported, for people. */
export function renderImported(cli: Cli, entries: readonly (ImportEntry & { readonly status: KeptStatus })[]): string {
  const blocks = entries.map((entry) => block(cli, entry))
  const fresh = entries.filter(({ status }) => status === 'imported' || status === 'extended')
  const first = fresh[0] ?? entries.find(({ status }) => status === 'unchanged')
  const next = first === undefined ? '' : `\nNext: palimpsest verify ${oneLine(argument(first.id))}\n`
  const total = `${count(fresh.length, 'session')} imported, ${entries.length - fresh.length} here before`
  return `${blocks.join('')}${cli.style('dim', total)}\n${next}`
}

function block({ io, style }: Cli, entry: ImportEntry & { readonly status: KeptStatus }): string {
  const { id, source, events, messages, calls, answered, warnings, status } = entry
  const colour = status === 'changed' ? 'yellow' : 'green'
  const head = `${style(colour, marks[status])} ${style('bold', oneLine(id))} ${style('dim', `from ${oneLine(source)}`)}`
  const facts = `  ${count(events, 'event')}, ${count(messages, 'message')}, ${answered} of ${count(calls, 'call')} answered`
  // What stands here already has been told before.
  const told = status === 'unchanged' ? warnings.slice(0, 1) : warnings
  const notes = told.slice(0, SHOWN_NOTES).map((note) => `  ${style('dim', clip(noteLine(note), io.columns - 2))}`)
  const more =
    told.length > SHOWN_NOTES
      ? [`  ${style('dim', `and ${count(told.length - SHOWN_NOTES, 'more note')}: --json lists them`)}`]
      : []
  return `${[head, facts, ...notes, ...more].join('\n')}\n`
}

function noteLine({ line, code, message, lines = [] }: ImportNote): string {
  const listed = lines.slice(0, SHOWN_LINES).join(', ')
  const place =
    lines.length > 1
      ? ` (lines ${listed}${lines.length > SHOWN_LINES ? ', …' : ''})`
      : line > 0
        ? ` (line ${line})`
        : ''
  return `${code}${place}: ${oneLine(message)}`
}
