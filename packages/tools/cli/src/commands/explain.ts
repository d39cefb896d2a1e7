import { type Provenance, type SessionEvent, explain } from '@palimpsest/session'
import type { Command } from 'commander'
import { type Cli, type CommonOptions, command, print, sessionHelp } from '../cli.ts'
import { eventRow, payloadSize, standingOf } from '../render/event.ts'
import { count, moment } from '../render/text.ts'
import { parseSeq, readSession, withStore } from '../store.ts'

/** `palimpsest explain`: where an event stands and what it stands for. */
export function explainCommand(cli: Cli): Command {
  return command({
    name: 'explain',
    summary: 'explain where an event stands and what it stands for',
    description:
      'Traces one event: whether the model sees it, what shadows it, what it covers, and which first events it stands for.',
    examples: ['palimpsest explain 42', 'palimpsest explain 29ccd257 42', 'palimpsest explain last 42 --json'],
  })
    .argument('[session]', `${sessionHelp}; \`last\` when only a seq is given`)
    .argument('[seq]', 'seq of the event')
    .action(async (first: string | undefined, second: string | undefined, options: CommonOptions) => {
      const [name, seqText] = second === undefined ? ['last', first] : [first ?? 'last', second]
      const { session } = await withStore(cli, options, (store) => readSession(store, name))
      const { events } = session
      const seq = parseSeq(seqText ?? '(none)', events)
      const found = explain(events, seq)
      print(cli, options, { ...found, event: events[seq] }, () => render(cli, events, found))
    })
}

const SHOWN = 12

function render({ io, style }: Cli, events: readonly SessionEvent[], found: Provenance): string {
  const layout = { columns: io.columns, seqWidth: String(events.length).length, style }
  const standing = standingOf(events)
  const rows = (title: string, seqs: readonly number[]): string => {
    if (seqs.length === 0) return ''
    const shown = seqs.slice(0, SHOWN).flatMap((seq) => events[seq] ?? [])
    const more = seqs.length > SHOWN ? style('dim', `  and ${seqs.length - SHOWN} more\n`) : ''
    return `\n${style('bold', title)}\n${shown.map((event) => `${eventRow(event, standing, layout)}\n`).join('')}${more}`
  }
  const event = events[found.seq]
  if (event === undefined) return ''
  const place = found.onSurface
    ? 'It stands on the surface: the model sees it.'
    : found.shadowedBy === undefined
      ? 'It is in the log only: the model never sees it.'
      : `It was shadowed by event ${found.shadowedBy}: the model saw it until then, and it stays in the log.`
  const head = `${eventRow(event, standing, layout)}\n\n${place}\n${style('dim', `${moment(event.time)} UTC, payload of ${payloadSize(event)}`)}\n`
  const isReplacement = found.shadows.length > 0
  return (
    head +
    rows('shadowed by', found.shadowedBy === undefined ? [] : [found.shadowedBy]) +
    rows(`covers ${count(found.shadows.length, 'event')}`, found.shadows) +
    rows('cites', isReplacement ? found.cites.filter((seq) => !found.shadows.includes(seq)) : found.cites) +
    rows(`stands for ${count(found.origins.length, 'first event')}`, isReplacement ? found.origins : [])
  )
}
