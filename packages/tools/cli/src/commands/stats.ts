import type { Session, SessionEvent, TokenUsage } from '@palimpsest/session'
import { foldSurface } from '@palimpsest/session'
import type { Command } from 'commander'
import { attachmentsOf } from '../attachments.ts'
import { type Cli, type CommonOptions, command, print, sessionHelp } from '../cli.ts'
import { bytes, count, moment, oneLine, pad, padStart } from '../render/text.ts'
import { readSession, withStore } from '../store.ts'

/** What `palimpsest stats` counts. Times in epoch milliseconds, sizes in bytes, usage in tokens. */
interface Stats {
  readonly id: string
  readonly events: number
  readonly byType: Readonly<Record<string, number>>
  readonly bytes: number
  readonly firstAt: number | undefined
  readonly lastAt: number | undefined
  readonly turns: number
  readonly messages: number
  readonly surface: { readonly entries: number; readonly shadowed: number; readonly replacements: number }
  readonly calls: {
    readonly made: number
    readonly answered: number
    readonly errors: number
    readonly interrupted: number
  }
  readonly tools: Readonly<Record<string, number>>
  readonly models: Readonly<Record<string, number>>
  readonly usage: TokenUsage
  readonly attachments: { readonly count: number; readonly bytes: number }
}

/** `palimpsest stats`: a session in numbers. */
export function statsCommand(cli: Cli): Command {
  return command({
    name: 'stats',
    summary: 'count what a session holds',
    description:
      'Counts events, messages, calls, tools, models, tokens and attachments of a session, over its whole log.',
    examples: ['palimpsest stats last', 'palimpsest stats 29ccd257 --json'],
  })
    .argument('[session]', sessionHelp, 'last')
    .action(async (name: string, options: CommonOptions) => {
      const stats = await withStore(cli, options, async (store) => {
        const { session } = await readSession(store, name)
        return statsOf(session, (await store.stat(session.id))?.byteLength ?? 0)
      })
      print(cli, options, stats, () => render(cli, stats))
    })
}

function countBy(keys: Iterable<string>): Record<string, number> {
  const counts = new Map<string, number>()
  for (const key of keys) counts.set(key, (counts.get(key) ?? 0) + 1)
  return Object.fromEntries([...counts].sort(([a, m], [b, n]) => n - m || (a < b ? -1 : 1)))
}

function addUsage(events: readonly SessionEvent[]): TokenUsage {
  const total: Record<string, number> = {}
  for (const event of events) {
    const usage = event.type === 'assistant/message' ? (event.data.usage ?? {}) : {}
    for (const [kind, tokens] of Object.entries(usage)) {
      if (typeof tokens === 'number') total[kind] = (total[kind] ?? 0) + tokens
    }
  }
  return total
}

function statsOf(session: Session, byteLength: number): Stats {
  const { events } = session
  const { nodes, replacements } = foldSurface(events)
  const attachments = [...attachmentsOf(events).values()]
  const spoken = events.flatMap((event) => (event.type === 'assistant/message' ? [event.data.message] : []))
  const calls = spoken.flatMap(({ content }) => content.filter((block) => block.type === 'tool-call'))
  const results = events.filter((event) => event.type === 'tool/result' && event.surfaceOp === 'append')
  const interrupted = results.filter(
    (event) => event.type === 'tool/result' && event.data.error?.name === 'InterruptedError',
  )
  return {
    id: session.id,
    events: events.length,
    byType: countBy(events.map(({ type }) => type)),
    bytes: byteLength,
    firstAt: events[0]?.time,
    lastAt: events.at(-1)?.time,
    turns: events.filter(({ type }) => type === 'turn/start').length,
    messages: session.deriveMessages().length,
    surface: {
      entries: nodes.length,
      shadowed: replacements.reduce((sum, { shadowedSeqs }) => sum + shadowedSeqs.length, 0),
      replacements: replacements.length,
    },
    calls: {
      made: calls.length,
      answered: results.length - interrupted.length,
      errors:
        results.filter((event) => event.type === 'tool/result' && event.data.message.content[0].isError === true)
          .length - interrupted.length,
      interrupted: interrupted.length,
    },
    tools: countBy(calls.map(({ name }) => name)),
    models: countBy(spoken.map(({ source }) => source.model)),
    usage: addUsage(events),
    attachments: { count: attachments.length, bytes: attachments.reduce((sum, { ref }) => sum + ref.bytes, 0) },
  }
}

function render({ style }: Cli, stats: Stats): string {
  const { surface, calls, usage, attachments } = stats
  const tokens = Object.entries(usage as Readonly<Record<string, number>>).map(
    ([kind, n]) => `${n.toLocaleString('en-US')} ${kind.replace('Tokens', '')}`,
  )
  const facts: readonly (readonly [string, string])[] = [
    ['log', `${count(stats.events, 'event')}, ${bytes(stats.bytes)}`],
    [
      'time',
      stats.firstAt === undefined || stats.lastAt === undefined
        ? '-'
        : `${moment(stats.firstAt)} to ${moment(stats.lastAt)} UTC`,
    ],
    ['turns', String(stats.turns)],
    [
      'surface',
      `${count(stats.messages, 'message')}; ${count(surface.shadowed, 'event')} shadowed by ${count(surface.replacements, 'replacement')}`,
    ],
    [
      'calls',
      `${calls.made} made, ${calls.answered} answered, ${calls.errors} of them with an error; ${calls.interrupted} interrupted`,
    ],
    ['tokens', tokens.length === 0 ? 'not recorded' : tokens.join(', ')],
    ['attachments', `${attachments.count}, ${bytes(attachments.bytes)}`],
  ]
  const lines = facts.map(([name, value]) => `  ${style('dim', pad(name, 12))}${value}`)
  const group = (title: string, counts: Readonly<Record<string, number>>): string[] => {
    const entries = Object.entries(counts)
    if (entries.length === 0) return []
    return [`  ${style('dim', title)}`, ...entries.map(([name, n]) => `  ${padStart(String(n), 10)}  ${oneLine(name)}`)]
  }
  const groups = [...group('tools', stats.tools), ...group('models', stats.models), ...group('events', stats.byType)]
  return `${[style('bold', oneLine(stats.id)), ...lines, ...groups].join('\n')}\n`
}
