import { deriveEventMessage } from '@palimpsest/session'
import type { Session } from '@palimpsest/session'
import type { ContextState, LiveMessage } from './plan.ts'
import { type FileRecord, recordsOf } from './records.ts'

/**
 * What the surface of one session tells of instruction files. Reads surface entries only, each once: appended ones
 * extend what was read, a replacement reads the surface anew. SPEC 7.3.
 */
export class LiveContext {
  readonly #session: Session
  readonly #messages: LiveMessage[] = []
  readonly #told = new Map<string, FileRecord>()
  #generation = 0
  #read = 0

  constructor(session: Session) {
    this.#session = session
  }

  /**
   * Takes note of what is about to be said: a compaction may cover it before it is read from the surface. A removal is
   * told of again rather than never.
   */
  remember(records: readonly FileRecord[]): void {
    for (const record of records) if (record.status !== 'removed') this.#told.set(record.path, record)
  }

  /** The state as of now. Borrowed: valid until the next call. */
  state(): ContextState {
    const { nodes, replaceGeneration } = this.#session.surface
    if (replaceGeneration !== this.#generation) {
      this.#generation = replaceGeneration
      this.#messages.length = 0
      this.#read = 0
    }
    for (; this.#read < nodes.length; this.#read += 1) {
      const event = this.#session.eventAt(nodes[this.#read] ?? -1)
      const message = event === undefined ? null : deriveEventMessage(event)
      const files = message === null ? undefined : recordsOf(message)
      if (event === undefined || files === undefined || files.length === 0) continue
      this.#messages.push({ seq: event.seq, files })
      for (const record of files) this.#told.set(record.path, record)
    }
    return { messages: this.#messages, told: this.#told }
  }
}
