import { type SessionEvent, deriveEventMessage, surfaceAt } from '@palimpsest/session'
import { diffArrays } from 'diff'
import type { Command } from 'commander'
import { type Cli, type CommonOptions, command, print, sessionHelp } from '../cli.ts'
import { EXIT } from '../exit.ts'
import { eventLine } from '../render/event.ts'
import { clip, count, oneLine, pad, padStart } from '../render/text.ts'
import { parseSeq, readSession, withStore } from '../store.ts'

interface DiffOptions extends CommonOptions {
  readonly from?: string
  readonly to?: string
  readonly exitCode?: true
}

/** One surface: what a model saw of a session right after an event. */
interface Side {
  readonly session: string
  readonly seq: number
  readonly entries: readonly SessionEvent[]
}

interface Change {
  readonly op: 'kept' | 'removed' | 'added'
  /** Seqs of `from` for what was removed, of `to` for the others. */
  readonly entries: readonly SessionEvent[]
}

/** `palimpsest diff`: what a model saw at one time and not at another, or in one session and not in another. */
export function diffCommand(cli: Cli): Command {
  return command({
    name: 'diff',
    summary: 'compare what the model saw at two times, or in two sessions',
    description:
      'Compares two surfaces entry by entry: of one session at two events, or of two sessions. Entries are equal when they say the same, wherever they stand in their logs.',
    examples: [
      'palimpsest diff last --from 119',
      'palimpsest diff last --from 119 --to 131 --json',
      'palimpsest diff 29ccd257 29ccd257~2 --exit-code',
    ],
  })
    .argument('[session]', sessionHelp, 'last')
    .argument('[other]', 'a second session; the same one unless given')
    .option('--from <seq>', 'what the model saw right after this event of the first session; now unless given')
    .option('--to <seq>', 'what the model saw right after this event of the second; now unless given')
    .option('--exit-code', 'end with 1 when they differ')
    .action(async (name: string, other: string | undefined, options: DiffOptions) => {
      const [from, to] = await withStore(cli, options, async (store) => {
        const { session } = await readSession(store, name)
        const { session: second } = other === undefined ? { session } : await readSession(store, other)
        return [sideOf(session, options.from), sideOf(second, options.to)] as const
      })
      const changes = changesBetween(from, to)
      const differs = changes.some(({ op }) => op !== 'kept')
      const places = { from: placeOf(from), to: placeOf(to) }
      print(cli, options, { ...places, differs, changes: changes.map(asJson) }, () => render(cli, changes))
      if (differs && options.exitCode === true) cli.end(EXIT.finding)
    })
}

function sideOf({ id, events }: { readonly id: string; readonly events: readonly SessionEvent[] }, at?: string): Side {
  const seq = at === undefined ? events.length - 1 : parseSeq(at, events, -1)
  return { session: id, seq, entries: surfaceAt(events, seq).flatMap((node) => events[node] ?? []) }
}

function placeOf({ session, seq, entries }: Side): object {
  return { session, seq, entries: entries.length }
}

function changesBetween(from: Side, to: Side): Change[] {
  const [left, right] = [from, to].map(({ entries }) => entries.map(spoken))
  let [at, of] = [0, 0]
  return diffArrays(left ?? [], right ?? []).map(({ added, removed, value: { length } }) => {
    const entries = removed ? from.entries.slice(at, at + length) : to.entries.slice(of, of + length)
    if (!added) at += length
    if (!removed) of += length
    return { op: removed ? 'removed' : added ? 'added' : 'kept', entries }
  })
}

/** What an entry says, without its place in a log. */
function spoken(event: SessionEvent): string {
  const { role, content } = deriveEventMessage(event) ?? { role: event.type, content: [] }
  return JSON.stringify([role, content])
}

function asJson({ op, entries }: Change): object {
  return { op, entries: entries.map(({ seq, type }) => ({ seq, type })) }
}

const marks = { kept: ' ', removed: '-', added: '+' } as const
const colours = { kept: 'dim', removed: 'red', added: 'green' } as const
/** Entries around a change that are shown with it. */
const CONTEXT = 2

function render({ io, style }: Cli, changes: readonly Change[]): string {
  const width = String(Math.max(0, ...changes.flatMap(({ entries }) => entries.map(({ seq }) => seq)))).length
  const line = (op: Change['op'], event: SessionEvent): string => {
    const text = `${marks[op]} ${padStart(String(event.seq), width)}  ${pad(oneLine(event.type), 17)}  ${eventLine(event)}`
    return style(colours[op], clip(text, io.columns))
  }
  const lines = changes.flatMap(({ op, entries }, index) => {
    if (op !== 'kept') return entries.map((event) => line(op, event))
    const before = index === 0 ? 0 : CONTEXT
    const after = index === changes.length - 1 ? 0 : CONTEXT
    if (entries.length <= before + after + 1) return entries.map((event) => line(op, event))
    const hidden = style('dim', `  ⋮ ${count(entries.length - before - after, 'entry')} in common`)
    return [
      ...entries.slice(0, before).map((event) => line(op, event)),
      hidden,
      ...entries.slice(entries.length - after).map((event) => line(op, event)),
    ]
  })
  const total = (op: Change['op']): number =>
    changes.reduce((sum, each) => sum + (each.op === op ? each.entries.length : 0), 0)
  const summary = `${count(total('removed'), 'entry')} removed, ${total('added')} added, ${total('kept')} in common`
  return `${lines.map((each) => `${each}\n`).join('')}${style('dim', summary)}\n`
}
