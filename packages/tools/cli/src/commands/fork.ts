import { SessionStore } from '@palimpsest/session'
import type { Command } from 'commander'
import { type Cli, type CommonOptions, command, print, sessionHelp } from '../cli.ts'
import { storeDerived } from '../derived.ts'
import { CliError } from '../exit.ts'
import { argument, count, oneLine } from '../render/text.ts'
import { parseSeq, readSession, withStore } from '../store.ts'

interface ForkOptions extends CommonOptions {
  readonly at?: string
  readonly id?: string
  readonly refuseOpenTurn?: true
}

interface Forked {
  readonly id: string
  readonly parentSession: string
  /** The last event that the child inherited; -1 where there is none. */
  readonly boundary: number
  readonly events: number
  /** Events that close a turn which the cut left open. */
  readonly closers: number
  readonly messages: number
}

/** `palimpsest fork`: a new session that goes on from an event of another. */
export function forkCommand(cli: Cli): Command {
  return command({
    name: 'fork',
    summary: 'make a new session that goes on from an event of another',
    description:
      'The new session inherits the events up to the boundary and nothing after it. A turn that the cut leaves open is closed in the new session, as after a crash. The old one stays as it is.',
    examples: [
      'palimpsest fork last',
      'palimpsest fork 29ccd257 --at 120',
      'palimpsest fork 29ccd257 --at 119 --id before-the-summary --json',
    ],
  })
    .argument('<session>', sessionHelp)
    .option('--at <seq>', 'the last event that is inherited; the last of the log unless given')
    .option('--id <id>', 'id of the new session; a random one unless given')
    .option('--refuse-open-turn', 'refuse a boundary inside a turn instead of closing the turn')
    .action(async (name: string, options: ForkOptions) => {
      if (options.id === '') throw new CliError('option/invalid', '--id is empty: name the new session')
      await withStore(cli, options, async (store) => {
        const { session: parent } = await readSession(store, name)
        const boundary = options.at === undefined ? parent.length - 1 : parseSeq(options.at, parent.events)
        const child = new SessionStore().fork(parent, boundary, {
          ...(options.id === undefined ? {} : { id: options.id }),
          ...(options.refuseOpenTurn === true ? { onOpenTurn: 'refuse' } : {}),
        })
        await storeDerived(store, parent.id, child)
        const forked = {
          id: child.id,
          parentSession: parent.id,
          boundary,
          events: child.length,
          closers: child.length - child.inheritedEventCount - 1,
          messages: child.deriveMessages().length,
        } satisfies Forked
        print(cli, options, forked, () => render(cli, forked))
      })
    })
}

function render({ style }: Cli, { id, parentSession, boundary, closers, messages }: Forked): string {
  const turn = closers === 0 ? '' : `; ${count(closers, 'event')} closed the turn that the cut left open`
  return [
    `${style('bold', oneLine(id))} goes on from event ${boundary} of ${oneLine(parentSession)}: ${count(messages, 'message')}${turn}`,
    style('dim', `palimpsest messages ${argument(id)}`),
    '',
  ].join('\n')
}
