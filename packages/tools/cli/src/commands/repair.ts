import type { SessionEvent } from '@palimpsest/session'
import type { RecoveredRange } from '@palimpsest/session-persistence'
import type { Command } from 'commander'
import { type Cli, type CommonOptions, command, print, sessionHelp } from '../cli.ts'
import { eventLine } from '../render/event.ts'
import { bytes, clip, oneLine, padStart } from '../render/text.ts'
import { readSession, withStore } from '../store.ts'

interface Repaired {
  readonly id: string
  /** Whether the log is another than before. */
  readonly changed: boolean
  /** What reading found beside good records; a torn tail says where its bytes are now. */
  readonly ranges: readonly RecoveredRange[]
  readonly closers: readonly SessionEvent[]
}

/** `palimpsest repair`: what a crash left unfinished is finished, and nothing is thrown away. */
export function repairCommand(cli: Cli): Command {
  return command({
    name: 'repair',
    summary: 'finish what a crash left unfinished',
    description:
      'Opens a session for writing, as an agent would: a torn last record is moved aside into recovered/, and calls, step and turn that a crash left open are closed by appended events. A session in good order stays as it is.',
    examples: ['palimpsest repair last', 'palimpsest repair 29ccd257 --json'],
  })
    .argument('<session>', sessionHelp)
    .action(async (name: string, options: CommonOptions) => {
      await withStore(cli, options, async (store) => {
        // Closers for a log that acceptance refuses would be refused too: such a log is left to salvage.
        const { session } = await readSession(store, name)
        const { id } = session
        const handle = await store.open(id, 'write')
        const { recovered, events } = handle.stored
        await handle.close()
        const { ranges } = recovered
        const closers = recovered.closers.flatMap((seq) => events[seq] ?? [])
        const changed = closers.length > 0 || ranges.some(({ kind }) => kind === 'torn' || kind === 'newline')
        const repaired = { id, changed, ranges, closers } satisfies Repaired
        print(cli, options, repaired, () => render(cli, repaired))
      })
    })
}

function render({ io, style }: Cli, { id, changed, ranges, closers }: Repaired): string {
  const lines = [`${style('bold', oneLine(id))}: ${changed ? style('green', 'repaired') : 'nothing to repair'}`]
  for (const range of ranges) {
    const size = bytes(range.end - range.start)
    if (range.kind === 'torn') {
      const place = range.movedTo === undefined ? '' : `, kept as ${range.movedTo}`
      lines.push(`  took out a torn last record of ${size} at byte ${range.start}${place}`)
    } else if (range.kind === 'newline') lines.push('  gave the last record its line end')
    else lines.push(style('dim', `  skips ${range.kind} of ${size} at byte ${range.start}: harmless, left where it is`))
  }
  const width = String(closers.at(-1)?.seq ?? 0).length
  for (const event of closers) {
    lines.push(clip(`  appended ${padStart(String(event.seq), width)}  ${event.type}  ${eventLine(event)}`, io.columns))
  }
  return `${lines.join('\n')}\n`
}
