import { type SessionEvent, foldSurface } from '@palimpsest/session'
import type { Command } from 'commander'
import { type Cli, type CommonOptions, command, print, sessionHelp } from '../cli.ts'
import { type Standing, eventRow, standingOf } from '../render/event.ts'
import { count, oneLine } from '../render/text.ts'
import { parseSeq, readSession, withStore } from '../store.ts'

interface ShowOptions extends CommonOptions {
  readonly from?: string
  readonly to?: string
  readonly type?: readonly string[]
}

/** `palimpsest show`: the log, one event per line, with what is shadowed. */
export function showCommand(cli: Cli): Command {
  return command({
    name: 'show',
    summary: 'show the log of a session',
    description:
      'Shows the log, one event per line. ● stands on the surface, ○ was shadowed by a later event and stays in the log, · is in the log only.',
    examples: [
      'palimpsest show last',
      'palimpsest show last --from 10 --to 40',
      "palimpsest show 29ccd257 --type tool/call --type 'turn/*'",
    ],
  })
    .argument('[session]', sessionHelp, 'last')
    .option('--from <seq>', 'first event')
    .option('--to <seq>', 'last event, inclusive')
    .option('--type <type>', 'only events of this type, `area/*` for an area; may be given again', collect)
    .action(async (name: string, options: ShowOptions) => {
      const { session } = await withStore(cli, options, (store) => readSession(store, name))
      const events = select(session.events, options)
      const standing = standingOf(session.events)
      print(
        cli,
        options,
        { session: session.header, events: events.map((event) => ({ ...event, ...placeOf(event, standing) })) },
        () => render(cli, events, session.events, standing, session.header.id),
      )
    })
}

function collect(value: string, before: readonly string[] = []): readonly string[] {
  return [...before, value]
}

function select(events: readonly SessionEvent[], { from, to, type }: ShowOptions): readonly SessionEvent[] {
  const first = from === undefined ? 0 : parseSeq(from, events)
  const last = to === undefined ? events.length - 1 : parseSeq(to, events)
  const isWanted = (event: SessionEvent): boolean =>
    type === undefined ||
    type.some((wanted) => (wanted.endsWith('/*') ? event.type.startsWith(wanted.slice(0, -1)) : event.type === wanted))
  return events.slice(first, last + 1).filter(isWanted)
}

function placeOf({ seq }: SessionEvent, { surface, shadowedBy }: Standing): object {
  const above = shadowedBy.get(seq)
  return { onSurface: surface.has(seq), ...(above === undefined ? {} : { shadowedBy: above }) }
}

function render(
  { io, style }: Cli,
  shown: readonly SessionEvent[],
  events: readonly SessionEvent[],
  standing: Standing,
  id: string,
): string {
  const layout = { columns: io.columns, seqWidth: String(events.length).length, style }
  const rows = shown.map((event) => `${eventRow(event, standing, layout)}\n`).join('')
  const { nodes, replacements } = foldSurface(events)
  const parts = [
    count(shown.length, 'event'),
    `${nodes.length} on the surface`,
    count(replacements.length, 'replacement'),
  ]
  return `${style('bold', oneLine(id))}\n${rows}${style('dim', parts.join(', '))}\n`
}
