import type { SessionEvent } from '@palimpsest/session'

/** What a history is in the middle of: enough to see whether a record fits behind it. Payloads are not trusted. */
export class HistoryState {
  readonly #open = new Set<string>()
  #made: ReadonlySet<string> = new Set()
  #turn: unknown
  #step: unknown
  #lastTurn = 0

  /** The record is the next one of the history. */
  follow(event: SessionEvent): void {
    const { turn, step } = placeOf(event)
    if (event.type === 'turn/start') {
      this.#turn = turn
      this.#step = undefined
      if (typeof turn === 'number') this.#lastTurn = turn
    } else if (event.type === 'turn/end') this.#turn = this.#step = undefined
    else if (event.type === 'step/start') this.#step = step
    else if (event.type === 'step/end') this.#step = undefined
    else if (event.type === 'assistant/message') {
      this.#made = new Set(callsIn(event))
      for (const call of this.#made) this.#open.add(call)
    } else if (event.type === 'tool/result') {
      const call = callOf(event)
      if (call !== undefined) this.#open.delete(call)
    }
  }

  /** How well the record fits behind it; above 0 it does, below 0 it does not. */
  fit(event: SessionEvent): number {
    const { turn, step } = placeOf(event)
    if (event.type === 'turn/start') {
      if (this.#turn !== undefined) return -1
      return turn === this.#lastTurn + 1 ? 2 : 1
    }
    let fit = 0
    if (turn !== undefined) fit += turn === this.#turn ? 1 : -1
    if (event.type === 'step/start') fit += this.#step === undefined ? 1 : -1
    else if (step !== undefined) fit += step === this.#step ? 1 : -1
    const call = callOf(event)
    if (call !== undefined) fit += (event.type === 'tool/result' ? this.#open : this.#made).has(call) ? 4 : -4
    else if (isMessage(event)) fit += this.#open.size === 0 ? 1 : -4
    return fit
  }
}

function isMessage({ type, surfaceOp }: SessionEvent): boolean {
  return surfaceOp === 'append' && (type === 'user/message' || type === 'assistant/message')
}

function memberOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, name)
    ? (value as Readonly<Record<string, unknown>>)[name]
    : undefined
}

function placeOf({ data }: SessionEvent): { readonly turn: unknown; readonly step: unknown } {
  return { turn: memberOf(data, 'turn'), step: memberOf(data, 'step') }
}

function callOf({ type, data, surfaceOp }: SessionEvent): string | undefined {
  const call =
    type === 'tool/call'
      ? memberOf(data, 'callId')
      : type === 'tool/result' && surfaceOp === 'append'
        ? memberOf(memberOf(memberOf(data, 'message'), 'source'), 'callId')
        : undefined
  return typeof call === 'string' ? call : undefined
}

function callsIn({ data }: SessionEvent): string[] {
  const content = memberOf(memberOf(data, 'message'), 'content')
  const blocks: readonly unknown[] = Array.isArray(content) ? content : []
  return blocks.flatMap((block) => {
    const id = memberOf(block, 'type') === 'tool-call' ? memberOf(block, 'id') : undefined
    return typeof id === 'string' ? [id] : []
  })
}
