import { homedir } from 'node:os'
import { addAbortSignal } from 'node:stream'
import { isatty } from 'node:tty'

/** Everything that a command touches of its process, so that tests run it without one. */
export interface Io {
  readonly stdout: (text: string) => void
  readonly stderr: (text: string) => void
  readonly env: Readonly<Record<string, string | undefined>>
  /** The user's home directory. */
  readonly home: string
  /** Columns of the terminal, 100 where there is none. */
  readonly columns: number
  readonly isStdoutTty: boolean
  readonly isStderrTty: boolean
  /** This command's own file: the demonstration starts a second process from it. */
  readonly program: string
  /** What is typed or piped in, to its end or until the signal. To be asked for once. */
  readonly input: (signal: AbortSignal) => AsyncIterable<string | Uint8Array>
  /** Hears every Ctrl-C instead of the process; the result gives it back. */
  readonly onInterrupt: (listener: () => void) => () => void
}

/** The process as it is. `program` is an absolute path. */
export function processIo(program: string): Io {
  return {
    stdout: (text) => void process.stdout.write(text),
    stderr: (text) => void process.stderr.write(text),
    env: process.env,
    home: homedir(),
    // A terminal that does not know its size says 0.
    columns: Math.max(40, process.stdout.columns || 100),
    isStdoutTty: isatty(1),
    isStderrTty: isatty(2),
    program,
    input: (signal) => addAbortSignal(signal, process.stdin),
    onInterrupt: (listener) => {
      process.on('SIGINT', listener)
      return () => void process.off('SIGINT', listener)
    },
  }
}

const PATIENCE_MS = 1000
const INTERVAL_MS = 100

/**
 * One line on stderr that says how far a piece of work is: on a terminal only, after a second only, gone when done.
 */
export class Progress {
  readonly #io: Pick<Io, 'stderr' | 'isStderrTty'>
  readonly #now: () => number
  readonly #startedAt: number
  #timer: NodeJS.Timeout | undefined
  #text = ''
  #shown = ''
  #shownAt = 0

  /** `now` in milliseconds. */
  constructor(io: Pick<Io, 'stderr' | 'isStderrTty'>, now: () => number = Date.now) {
    this.#io = io
    this.#now = now
    this.#startedAt = now()
  }

  show(text: string): void {
    if (!this.#io.isStderrTty) return
    this.#text = text
    // One long piece of work says nothing more until it is done.
    this.#timer ??= setInterval(() => this.#write(), INTERVAL_MS).unref()
    this.#write()
  }

  done(): void {
    clearInterval(this.#timer)
    this.#timer = undefined
    this.#shown = ''
    if (this.#shownAt > 0) this.#io.stderr('\r\u001B[2K')
    this.#shownAt = 0
  }

  #write(): void {
    const now = this.#now()
    if (this.#text === this.#shown || now - this.#startedAt < PATIENCE_MS || now - this.#shownAt < INTERVAL_MS) return
    this.#shownAt = now
    this.#shown = this.#text
    this.#io.stderr(`\r\u001B[2K${this.#text}`)
  }
}
