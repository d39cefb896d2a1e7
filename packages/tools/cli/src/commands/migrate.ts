import { stat } from 'node:fs/promises'
import { type FormatNote, type Migration, migrateFile } from '@palimpsest/session-format'
import { type Command, Option } from 'commander'
import { type Cli, type CommonOptions, command, print } from '../cli.ts'
import { CliError, EXIT, type ExitCode, type Failure, failureOf } from '../exit.ts'
import { renderMigrations } from '../render/migrated.ts'
import { oneLine } from '../render/text.ts'
import { allEvents } from '../vocabulary.ts'

interface MigrateCommandOptions extends CommonOptions {
  readonly out?: string
  readonly normalised?: true
}

/** One migrated file as the command reports it. SPEC 9. */
export interface MigrationEntry {
  /** File name, never a path. */
  readonly source: string
  readonly from: Migration['from']
  readonly id: string
  /** The new file, below what was typed. */
  readonly successor: string
  readonly events: number
  readonly messages: number
  readonly notes: readonly FormatNote[]
  /** Digest of the source. */
  readonly sha256: string
}

/** `palimpsest migrate`: logs of older versions of the format are written anew in this one. */
export function migrateCommand(cli: Cli): Command {
  return command({
    name: 'migrate',
    summary: 'write logs of older versions of the format anew in this one',
    description:
      'Reads session logs of deepseek-harness, versions 0 to 3, and writes each anew as `<name>.palimpsest.v3.jsonl` beside it. The old file is only read, and no file is overwritten. What cannot be converted with proof is refused.',
    examples: [
      'palimpsest migrate ./session.jsonl',
      'palimpsest migrate ./session.v2.jsonl --out ./migrated --json',
      'palimpsest migrate ./fixtures/*.jsonl --normalised',
    ],
  })
    .argument('<files...>', 'session logs')
    .addOption(
      new Option('--out <dir>', 'the directory of the new files, which must exist (else that of each old one)'),
    )
    .option('--normalised', 'read recorded fixtures too: placeholders, rows without seq and time')
    .action(async (paths: readonly string[], options: MigrateCommandOptions) => {
      const migrations: MigrationEntry[] = []
      const failures: Failure[] = []
      for (const [index, path] of paths.entries()) {
        cli.progress.show(`migrating ${index + 1} of ${paths.length}`)
        try {
          migrations.push(await migrateOne(path, options))
        } catch (error) {
          failures.push(paths.length === 1 ? failureOf(error) : failureOfOne(path, error))
        }
      }
      print(cli, options, { migrations }, () => renderMigrations(cli, migrations))
      for (const { line } of failures) cli.io.stderr(`palimpsest: ${oneLine(line)}\n`)
      cli.end(failures.reduce<ExitCode>((worst, { exit }) => (exit > worst ? exit : worst), EXIT.ok))
    })
}

async function migrateOne(path: string, { out, normalised }: MigrateCommandOptions): Promise<MigrationEntry> {
  await requireFile(path)
  const options = { vocabulary: allEvents, normalised: normalised === true, ...(out === undefined ? {} : { out }) }
  const { source, from, id, successor, events, messages, notes, sha256 } = await migrateFile(path, options)
  return { source, from, id, successor, events, messages, notes, sha256 }
}

/** Of many files, which one it was: most errors tell of a line or of the system, and not of the file. */
function failureOfOne(path: string, error: unknown): Failure {
  const failure = failureOf(error)
  return error instanceof CliError ? failure : { ...failure, line: `${failure.line} (${path})` }
}

/** A pipe could be read once only, and a migration reads its source twice. */
async function requireFile(path: string): Promise<void> {
  const found = await stat(path).catch((error: unknown) => {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'failed'
    const why = code === 'ENOENT' ? 'there is no such file' : code
    throw new CliError('source/unreadable', `${path}: ${why}`, { cause: error })
  })
  if (found.isDirectory()) throw new CliError('source/unreadable', `${path}: it is a directory: name the files in it`)
  if (!found.isFile())
    throw new CliError('source/unreadable', `${path}: it is no regular file: save what it gives and migrate that`)
}
