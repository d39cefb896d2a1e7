import { fileURLToPath } from 'node:url'
import { bundleChild, Child, type ChildProgram } from '@palimpsest/testkit'

/** Answer of a writer process to one command. */
export interface Answer {
  readonly ok?: string
  readonly failed?: string
  readonly name?: string
  readonly code?: string
  readonly message?: string
  readonly pid?: number
  readonly host?: string
  readonly status?: string
  readonly next?: number
  readonly acknowledged?: number
}

/** Bundles the writer program; once per test file. */
export function bundleWriter(): Promise<ChildProgram> {
  return bundleChild(fileURLToPath(new URL('./programs/writer.ts', import.meta.url)), ['fs-native-extensions'])
}

/** A process that writes to a session. */
export class WriterProcess {
  readonly child: Child
  #isReady = false

  constructor(program: ChildProgram, root: string, id: string, lock: 'kernel' | 'lease' = 'kernel') {
    this.child = new Child(program, [root, id, lock])
  }

  /** Gives one command and waits for its answer. */
  async ask(command: string): Promise<Answer> {
    this.child.send(command)
    return this.answer()
  }

  /** The next answer that was not read yet. */
  async answer(): Promise<Answer> {
    // The first line says that the process is up.
    if (!this.#isReady) await this.child.next()
    this.#isReady = true
    return JSON.parse(await this.child.next()) as Answer
  }

  /** Last seq that the process said was acknowledged, -1 without one. */
  get acknowledged(): number {
    return this.child.lines.reduce((last, line) => Math.max(last, (JSON.parse(line) as Answer).acknowledged ?? -1), -1)
  }
}
