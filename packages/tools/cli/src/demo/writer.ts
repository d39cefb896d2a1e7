import { sessionId } from '@palimpsest/session'
import { Command } from 'commander'
import type { Cli } from '../cli.ts'
import { withStore } from '../store.ts'

/** Name of the hidden command that the demonstration starts and kills. */
export const writerCommandName = 'demo-writer'

/** What the second process says, a line each. */
export type WriterLine =
  /** An event is on the disk. */
  | { readonly durable: { readonly seq: number; readonly type: string } }
  /** The model was given this: a digest. */
  | { readonly request: string }
  /** A tool runs, and will not end. */
  | { readonly running: string }

/**
 * An agent in the middle of its work. Ends inside a tool, by being killed, or when whoever started it is gone.
 */
export function writerCommand(cli: Cli): Command {
  return new Command(writerCommandName)
    .requiredOption('--root <dir>')
    .argument('<id>')
    .action(async (id: string, options: { readonly root: string }) => {
      await withStore(cli, options, async (store) => {
        const { startWork } = await import('./work.ts')
        const say = (line: WriterLine): void => cli.io.stdout(`${JSON.stringify(line)}\n`)
        await startWork(store, sessionId(id), say)
        await new Promise((resolve) => process.stdin.resume().on('end', resolve))
      })
    })
}
