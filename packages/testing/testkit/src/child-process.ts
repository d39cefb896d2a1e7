import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Plugin } from 'esbuild'

/** A TypeScript program made runnable on every Node that the project supports. */
export interface ChildProgram {
  /** Path of the bundled module. */
  readonly path: string
  /** Removes the bundle. */
  dispose(): Promise<void>
}

/** Native addons find their binaries beside their own files, so they stay where they are. */
function keepInPlace(names: readonly string[]): Plugin {
  return {
    name: 'keep-in-place',
    setup(context) {
      for (const name of names) {
        context.onResolve({ filter: new RegExp(`^${name}$`) }, ({ importer }) => ({
          path: createRequire(importer).resolve(name),
          external: true,
        }))
      }
    },
  }
}

/**
 * Bundles `entry` (an absolute path) and the workspace sources that it imports. `native` lists the packages to load
 * from where the module that imports them would find them.
 */
export async function bundleChild(entry: string, native: readonly string[] = []): Promise<ChildProgram> {
  // Loaded here because most users of the testkit bundle nothing.
  const { build } = await import('esbuild')
  const directory = await mkdtemp(join(tmpdir(), 'palimpsest-child-'))
  const path = join(directory, 'child.mjs')
  await build({
    entryPoints: [entry],
    outfile: path,
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    conditions: ['@palimpsest/source', 'module'],
    plugins: [keepInPlace(native)],
    sourcemap: 'inline',
    logLevel: 'silent',
  })
  return { path, dispose: () => rm(directory, { recursive: true, force: true }) }
}

/** How a child ended. */
export interface ChildExit {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
}

/** A running child that talks in lines. */
export class Child {
  readonly #process: ChildProcess
  readonly #waiting = new Set<() => void>()
  readonly #lines: string[] = []
  #rest: Buffer = Buffer.alloc(0)
  #taken = 0
  #errors = ''
  #ended: ChildExit | undefined
  /** Resolves when the process is gone and its output was read to the end. */
  readonly exit: Promise<ChildExit>

  /** Starts `program` with `args`; `env` is added to the environment of this process. */
  constructor(program: ChildProgram, args: readonly string[] = [], env: Readonly<Record<string, string>> = {}) {
    this.#process = spawn(process.execPath, ['--enable-source-maps', program.path, ...args], {
      env: { ...process.env, ...env },
      stdio: ['pipe', 'pipe', 'pipe'],
    })
    this.#process.stdin?.on('error', () => undefined)
    this.#process.stdout?.on('data', (chunk: Buffer) => this.#read(chunk))
    this.#process.stderr?.on('data', (chunk: Buffer) => (this.#errors += chunk.toString()))
    this.exit = once(this.#process, 'close').then(([code, signal]) => {
      this.#ended = { code: code as number | null, signal: signal as NodeJS.Signals | null }
      this.#wake()
      return this.#ended
    })
  }

  get pid(): number {
    const { pid } = this.#process
    if (pid === undefined) throw new Error('the child did not start')
    return pid
  }

  /** Whole lines that the child has written so far, without their ends. */
  get lines(): readonly string[] {
    return this.#lines
  }

  /** What the child wrote to its error output so far. */
  get errors(): string {
    return this.#errors
  }

  /** Resolves to the next line that was not taken yet. Rejects when the child ends without one. */
  async next(): Promise<string> {
    const index = this.#taken
    this.#taken += 1
    for (;;) {
      const line = this.#lines[index]
      if (line !== undefined) return line
      if (this.#ended !== undefined) {
        throw new Error(
          `the child ended (${this.#ended.signal ?? this.#ended.code}) after ${this.#lines.length} lines\n${this.#errors}`,
        )
      }
      await new Promise<void>((resolve) => this.#waiting.add(resolve))
    }
  }

  /** Writes one line to the child. */
  send(line: string): void {
    this.#process.stdin?.write(`${line}\n`)
  }

  /** Sends a signal, SIGKILL by default. */
  kill(signal: NodeJS.Signals = 'SIGKILL'): void {
    this.#process.kill(signal)
  }

  /** Kills the child and waits for its end. */
  async end(): Promise<ChildExit> {
    if (this.#ended === undefined) this.kill()
    return this.exit
  }

  #read(chunk: Buffer): void {
    let bytes = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk])
    for (let end = bytes.indexOf(0x0a); end !== -1; end = bytes.indexOf(0x0a)) {
      this.#lines.push(bytes.subarray(0, end).toString())
      bytes = bytes.subarray(end + 1)
    }
    this.#rest = bytes
    this.#wake()
  }

  #wake(): void {
    const waiting = [...this.#waiting]
    this.#waiting.clear()
    for (const resolve of waiting) resolve()
  }
}
