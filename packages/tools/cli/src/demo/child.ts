import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { CliError } from '../exit.ts'
import type { Io } from '../io.ts'

/** A second process of this command. */
export class SecondProcess {
  readonly #process: ChildProcess
  readonly #ended: Promise<unknown>
  #errors = ''

  constructor(io: Io, args: readonly string[]) {
    this.#process = spawn(process.execPath, [...process.execArgv, io.program, ...args], {
      stdio: ['pipe', 'pipe', 'pipe'],
    })
    this.#process.stderr?.on('data', (chunk: Buffer) => (this.#errors += chunk.toString()))
    this.#ended = once(this.#process, 'close')
  }

  get pid(): number {
    return this.#process.pid ?? 0
  }

  /** Whole lines as they are written, to the end of the output. */
  async *lines(): AsyncGenerator<string> {
    let rest = ''
    for await (const chunk of this.#process.stdout ?? []) {
      const lines = (rest + String(chunk)).split('\n')
      rest = lines.pop() ?? ''
      yield* lines
    }
    if (rest !== '') yield rest
  }

  /** The whole output, once the process ended well. Throws `CliError` `demo/failed`. */
  async output(): Promise<string> {
    let text = ''
    for await (const chunk of this.#process.stdout ?? []) text += String(chunk)
    await this.#ended
    if (this.#process.exitCode !== 0) throw this.failed('ended too early')
    return text
  }

  failed(what: string): CliError {
    const said = this.#errors.trim().split('\n', 1)[0] ?? ''
    return new CliError('demo/failed', `the second process ${what}${said === '' ? '' : `: ${said}`}`)
  }

  /** SIGKILL: no handler runs, nothing is flushed. Resolves when the process is gone. */
  async kill(): Promise<void> {
    this.#process.kill('SIGKILL')
    await this.#ended
  }
}
