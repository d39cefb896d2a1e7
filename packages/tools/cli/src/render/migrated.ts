import type { Cli } from '../cli.ts'
import type { MigrationEntry } from '../commands/migrate.ts'
import { clip, count, oneLine } from './text.ts'

const SHOWN = 8

/** What was migrated, for people. */
export function renderMigrations(cli: Cli, migrations: readonly MigrationEntry[]): string {
  return migrations.map((migration) => block(cli, migration)).join('')
}

function block({ io, style }: Cli, { source, from, id, successor, events, messages, notes }: MigrationEntry): string {
  const head = `${style('green', '+')} ${style('bold', oneLine(successor))} ${style('dim', `from ${oneLine(source)}, version ${from}`)}`
  const facts = `  ${oneLine(id)}: ${count(events, 'event')}, ${count(messages, 'message')}`
  const shown = notes.slice(0, SHOWN).map(({ code, line, message }) => {
    const place = line === undefined ? '' : ` (line ${line})`
    return `  ${style('dim', clip(`${code}${place}: ${oneLine(message)}`, io.columns - 2))}`
  })
  const more =
    notes.length > SHOWN
      ? [`  ${style('dim', `and ${count(notes.length - SHOWN, 'more note')}: --json lists them`)}`]
      : []
  return `${[head, facts, ...shown, ...more].join('\n')}\n`
}
