import { Command, Option } from 'commander'
import { EXIT, type ExitCode } from './exit.ts'
import { type Io, Progress } from './io.ts'
import { type Style, styleFor } from './render/style.ts'

/** What every command is given. */
export interface Cli {
  readonly io: Io
  readonly style: Style
  /** Gone before anything else is written. */
  readonly progress: Progress
  /** Sets the exit code of a command that did its work and has something to say. */
  end(code: ExitCode): void
}

/** The options that every command takes. */
export interface CommonOptions {
  readonly root?: string
  readonly json?: true
}

export class CliState implements Cli {
  readonly io: Io
  readonly style: Style
  readonly progress: Progress
  exit: ExitCode = EXIT.ok

  constructor(io: Io) {
    const progress = new Progress(io)
    const after = (write: (text: string) => void) => (text: string) => {
      progress.done()
      write(text)
    }
    this.io = { ...io, stdout: after(io.stdout), stderr: after(io.stderr) }
    this.progress = progress
    this.style = styleFor(io)
  }

  end(code: ExitCode): void {
    this.exit = code
  }
}

export interface CommandText {
  readonly name: string
  readonly summary: string
  /** What the command does, in a sentence or two. */
  readonly description: string
  /** Lines of `command  # comment`, shown under the help. */
  readonly examples: readonly string[]
}

/** A command with the common options and its examples. */
export function command({ name, summary, description, examples }: CommandText): Command {
  return new Command(name)
    .summary(summary)
    .description(description)
    .addOption(new Option('--root <dir>', 'the store (else PALIMPSEST_ROOT, else ~/.palimpsest/sessions)'))
    .addOption(new Option('--json', 'print one JSON value and nothing else'))
    .addHelpText('after', `\nExamples:\n${examples.map((example) => `  $ ${example}`).join('\n')}\n`)
}

/** Prints the value as JSON, or what it looks like to a person. */
export function print(cli: Cli, options: CommonOptions, value: unknown, render: () => string): void {
  cli.io.stdout(options.json === true ? `${JSON.stringify(value, null, 2)}\n` : render())
}

/** Text of the argument that names a session. */
export const sessionHelp =
  'id, unique begin of an id, or `last`: the one whose last event is the newest, whenever it was imported'
