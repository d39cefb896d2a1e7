import type { SessionStat } from '@palimpsest/session-persistence'
import type { Command } from 'commander'
import { type Cli, type CommonOptions, command, print } from '../cli.ts'
import { table } from '../render/table.ts'
import { bytes, count, moment, oneLine } from '../render/text.ts'
import { listSessions, withStore } from '../store.ts'

/** `palimpsest ls`: the sessions of the store, newest first, from heads and tails alone. */
export function lsCommand(cli: Cli): Command {
  return command({
    name: 'ls',
    summary: 'list the sessions of the store',
    description: 'Lists the sessions of the store, newest first.',
    examples: ['palimpsest ls', 'palimpsest ls --json'],
  }).action(async (options: CommonOptions) => {
    const stats = await withStore(cli, options, listSessions)
    print(cli, options, { sessions: stats.map(entryOf) }, () => render(cli, stats))
  })
}

function entryOf({ header, eventCount, byteLength, updatedAt, firstPrompt }: SessionStat): object {
  const { id, createdAt, cwd, parentSession, importedFrom } = header
  return {
    id,
    createdAt,
    updatedAt,
    events: eventCount,
    bytes: byteLength,
    firstPrompt,
    cwd,
    parentSession,
    importedFrom,
  }
}

function render({ io, style }: Cli, stats: readonly SessionStat[]): string {
  if (stats.length === 0)
    return 'No session yet. `palimpsest import` finds your own sessions of Claude Code, Codex and pi.\n'
  const rows = table(
    stats,
    [
      { title: 'session', max: 38, text: ({ header }) => oneLine(header.id), paint: (text) => style('bold', text) },
      { title: 'last event (UTC)', text: ({ updatedAt }) => moment(updatedAt), paint: (text) => style('dim', text) },
      { title: 'events', align: 'right', text: ({ eventCount }) => String(eventCount) },
      { title: 'size', align: 'right', text: ({ byteLength }) => bytes(byteLength) },
      { title: 'first prompt', text: ({ firstPrompt, header }) => firstLine(firstPrompt, header.parentSession) },
    ],
    io.columns,
    style,
  )
  return `${rows}${style('dim', count(stats.length, 'session'))}\n`
}

function firstLine(prompt: string | undefined, parent: string | undefined): string {
  return `${parent === undefined ? '' : '↳ '}${oneLine(prompt ?? '')}`
}
