import type { Session, SessionEvent, SessionSeq } from '@palimpsest/session'
import { foldSurface, surfaceAt } from '@palimpsest/session'
import type { Command } from 'commander'
import { type Cli, type CommonOptions, command, print, sessionHelp } from '../cli.ts'
import { eventRow, standingOf } from '../render/event.ts'
import { count, oneLine } from '../render/text.ts'
import { parseSeq, readSession, withStore } from '../store.ts'

interface SurfaceOptions extends CommonOptions {
  readonly at?: string
}

/** `palimpsest surface`: what the model sees, as events of the log. */
export function surfaceCommand(cli: Cli): Command {
  return command({
    name: 'surface',
    summary: 'show what the model sees, as events of the log',
    description: 'Shows the surface: the events whose messages the model sees now, in their order.',
    examples: ['palimpsest surface last', 'palimpsest surface last --at 120', 'palimpsest surface last --json'],
  })
    .argument('[session]', sessionHelp, 'last')
    .option('--at <seq>', 'the surface right after this event')
    .action(async (name: string, options: SurfaceOptions) => {
      const { session } = await withStore(cli, options, (store) => readSession(store, name))
      const events =
        options.at === undefined
          ? session.events
          : session.events.slice(0, parseSeq(options.at, session.events, -1) + 1)
      const nodes = surfaceAt(events, events.length - 1)
      const replaceGeneration = foldSurface(events).replacements.length
      print(cli, options, { nodes, replaceGeneration }, () => render(cli, session, events, nodes, replaceGeneration))
    })
}

function render(
  { io, style }: Cli,
  session: Session,
  events: readonly SessionEvent[],
  nodes: readonly SessionSeq[],
  replacements: number,
): string {
  const layout = { columns: io.columns, seqWidth: String(events.length).length, style }
  const standing = standingOf(events)
  const rows = nodes.flatMap((seq) => {
    const event = events[seq]
    return event === undefined ? [] : [`${eventRow(event, standing, layout)}\n`]
  })
  const summary = `${count(nodes.length, 'entry')} of ${count(events.length, 'event')}, ${count(replacements, 'replacement')}`
  return `${style('bold', oneLine(session.header.id))}\n${rows.join('')}${style('dim', summary)}\n`
}
