import type { DraftUser } from '../conversation/draft.ts'

/** Something of the history that the CLI sends, as far as rollbacks and compactions ask about it. */
export interface HistoryEntry {
  readonly key: string
  /** A user turn begins with it: what a rollback counts. */
  readonly isTurn: boolean
  /** Put in before a turn; it leaves with the turn. */
  readonly isContext: boolean
  /** What the user said, where a compaction of an older version keeps it. */
  readonly prompt?: DraftUser
}

/** The history that the CLI would send now, beside outputs, which go where their calls go. */
export class CodexHistory {
  readonly #entries: HistoryEntry[] = []
  /** Places of the user turns, ascending. */
  readonly #turns: number[] = []

  add(entry: HistoryEntry): void {
    if (entry.isTurn) this.#turns.push(this.#entries.length)
    this.#entries.push(entry)
  }

  clear(): void {
    this.#entries.length = 0
    this.#turns.length = 0
  }

  /** Takes back the last user turns and the context put in right before them. Gives the first entry that leaves. */
  dropTurns(count: number): HistoryEntry | undefined {
    const first = this.#turns[0]
    if (count < 1 || first === undefined) return undefined
    let cut = this.#turns[Math.max(0, this.#turns.length - count)] ?? first
    while (cut > first && this.#entries[cut - 1]?.isContext === true) cut -= 1
    return this.#cut(cut)[0]
  }

  /**
   * What a compaction without a history of its own leaves: every prompt, then its summary. Prompts at the very beginning
   * stay where they are. Gives the entries that leave and the prompts among them, which go on.
   */
  keepPrompts(): { readonly from?: HistoryEntry; readonly prompts: readonly DraftUser[] } {
    const start = this.#entries.findIndex(({ prompt }) => prompt === undefined)
    if (start === -1) return { prompts: [] }
    const left = this.#cut(start)
    const [from] = left
    return { prompts: left.flatMap(({ prompt }) => prompt ?? []), ...(from === undefined ? {} : { from }) }
  }

  #cut(at: number): HistoryEntry[] {
    while ((this.#turns.at(-1) ?? -1) >= at) this.#turns.pop()
    return this.#entries.splice(at)
  }
}
