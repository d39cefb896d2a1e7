import { Command, CommanderError } from 'commander'
import manifest from '../package.json' with { type: 'json' }
import { CliState } from './cli.ts'
import { chatCommand } from './commands/chat.ts'
import { compactCommand } from './commands/compact.ts'
import { explainCommand } from './commands/explain.ts'
import { importCommand } from './commands/import.ts'
import { diffCommand } from './commands/diff.ts'
import { demoCommand } from './commands/demo.ts'
import { exportCommand } from './commands/export.ts'
import { forkCommand } from './commands/fork.ts'
import { lsCommand } from './commands/ls.ts'
import { messagesCommand } from './commands/messages.ts'
import { migrateCommand } from './commands/migrate.ts'
import { pruneCommand } from './commands/prune.ts'
import { repairCommand } from './commands/repair.ts'
import { requestCommand } from './commands/request.ts'
import { salvageCommand } from './commands/salvage.ts'
import { showCommand } from './commands/show.ts'
import { statsCommand } from './commands/stats.ts'
import { surfaceCommand } from './commands/surface.ts'
import { verifyCommand } from './commands/verify.ts'
import { writerCommand } from './demo/writer.ts'
import { EXIT, type ExitCode, failureOf } from './exit.ts'
import type { Io } from './io.ts'
import { oneLine } from './render/text.ts'

const commands = [
  importCommand,
  lsCommand,
  showCommand,
  surfaceCommand,
  messagesCommand,
  requestCommand,
  explainCommand,
  diffCommand,
  statsCommand,
  verifyCommand,
  repairCommand,
  salvageCommand,
  forkCommand,
  migrateCommand,
  compactCommand,
  pruneCommand,
  chatCommand,
  exportCommand,
  demoCommand,
]

/**
 * Runs one command line, without the program's own name, and answers its exit code: 0, 1 for a finding, 2 for a wrong
 * command line, 3 when a file or the system refused. Never throws. SPEC 9.
 */
export async function run(argv: readonly string[], io: Io): Promise<ExitCode> {
  const cli = new CliState(io)
  const program = new Command('palimpsest')
    .description('The session kernel of an LLM agent: every event stays, the surface decides what the model sees.')
    .version(manifest.version)
    .helpCommand(false)
    .addHelpText('after', '\nStart with: palimpsest demo, then palimpsest import\n')
  for (const make of commands) program.addCommand(make(cli))
  program.addCommand(writerCommand(cli), { hidden: true })
  for (const each of [program, ...program.commands]) {
    each.exitOverride().configureOutput({ writeOut: io.stdout, writeErr: io.stderr })
  }
  try {
    await program.parseAsync(argv, { from: 'user' })
    return cli.exit
  } catch (error) {
    // Commander has printed what it has to say; help that was asked for is no mistake.
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.ok : EXIT.usage
    const { exit, line } = failureOf(error)
    io.stderr(`palimpsest: ${oneLine(line)}\n`)
    return exit
  }
}
