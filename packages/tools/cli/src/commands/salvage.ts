import type { Command } from 'commander'
import { type Cli, type CommonOptions, command, print, sessionHelp } from '../cli.ts'
import { renderSalvage } from '../render/salvage.ts'
import { salvageLog } from '../salvage/salvage.ts'
import { findSource } from '../salvage/source.ts'
import { rootOf, withStore } from '../store.ts'

export type { Salvage } from '../salvage/salvage.ts'

/** `palimpsest salvage`: a new session from everything readable of a damaged one. */
export function salvageCommand(cli: Cli): Command {
  return command({
    name: 'salvage',
    summary: 'write a new session from what is readable of a damaged one',
    description:
      'Reads whatever can be read of a log that no longer opens, or that acceptance refuses, and writes it as a new session; a second history of the same seqs becomes a session of its own, and so does the log of another session in the same file. The damaged log is only read, and every byte of it is accounted for. A log that is whole is left alone.',
    examples: [
      'palimpsest salvage 29ccd257',
      'palimpsest salvage ./copied/session.v3.jsonl',
      'palimpsest salvage 29ccd257 --json',
    ],
  })
    .argument('<session>', `${sessionHelp}; the whole id where the header cannot be read; or a log file`)
    .action(async (name: string, options: CommonOptions) => {
      await withStore(cli, options, async (store) => {
        const salvage = await salvageLog(store, await findSource(store, rootOf(cli.io, options), name))
        print(cli, options, salvage, () => renderSalvage(cli, salvage))
      })
    })
}
