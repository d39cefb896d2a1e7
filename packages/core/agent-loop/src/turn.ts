import {
  type Session,
  type TokenUsage,
  type TurnEndReason,
  type UserMessage,
  interruptedTurnClosers,
} from '@palimpsest/session'
import { throwIfAborted } from './abort.ts'
import type { ModelAnswer } from './ask-model.ts'
import { messageOf } from './failure.ts'
import { settleHead } from './head.ts'
import type { LoopParts } from './loop-config.ts'
import type { TurnResult } from './options.ts'
import { appendPending, runStep } from './step.ts'
import { TurnStop, failTurn } from './turn-stop.ts'
import { addUsage } from './usage.ts'

export interface TurnInput {
  readonly signal: AbortSignal
  /** What the turn begins with. */
  readonly input: readonly UserMessage[]
  /** What waits for the next step. */
  readonly claimStep: () => readonly UserMessage[]
  /** Whether something waits that keeps the turn going. */
  readonly isSteered: () => boolean
}

/** One turn, from `turn/start` to `turn/end`, whatever happens in between. Rejects only when the log takes no closing. */
export async function runTurn(parts: LoopParts, input: TurnInput): Promise<TurnResult> {
  const turn = new Turn(parts, input)
  return turn.run()
}

class Turn {
  readonly #parts: LoopParts
  readonly #input: TurnInput
  readonly #turn: number
  /** Claimed, and not in the log yet. */
  readonly #pending: UserMessage[]
  #step = 0
  #text = ''
  #usage: TokenUsage = {}

  constructor(parts: LoopParts, input: TurnInput) {
    this.#parts = parts
    this.#input = input
    this.#turn = parts.log.lastTurn + 1
    this.#pending = [...input.input]
  }

  async run(): Promise<TurnResult> {
    const { session } = this.#parts
    session.append('turn/start', { turn: this.#turn })
    const reason = await this.#steps().catch((error: unknown) => this.#reasonOf(error))
    this.#keepInput()
    session.append('turn/end', { turn: this.#turn, reason })
    return { turn: this.#turn, steps: this.#step, reason, text: this.#text, usage: this.#usage }
  }

  async #steps(): Promise<TurnEndReason> {
    const { signal, claimStep, isSteered } = this.#input
    const { maxSteps } = this.#parts
    for (;;) {
      throwIfAborted(signal)
      if (this.#step >= maxSteps) {
        throw failTurn('loop/max-steps', `the turn needed more than ${maxSteps} steps: raise maxSteps or ask for less`)
      }
      if (this.#step > 0) this.#pending.push(...claimStep())
      this.#step += 1
      const { finish, calls } = await runStep(this.#parts, {
        turn: this.#turn,
        step: this.#step,
        signal,
        pending: this.#pending,
        onAnswer: (answer) => this.#count(answer),
      })
      throwIfAborted(signal)
      if (calls > 0) continue
      if (finish === 'length') return { kind: 'max-tokens' }
      if (finish === 'content-filter') return { kind: 'blocked' }
      if (!isSteered()) return { kind: 'completed' }
    }
  }

  #count({ message: { data } }: ModelAnswer): void {
    this.#text = data.message.content.map((block) => (block.type === 'text' ? block.text : '')).join('')
    if (data.usage !== undefined) this.#usage = addUsage(this.#usage, data.usage)
  }

  #reasonOf(error: unknown): TurnEndReason {
    // A listener may have vetoed what closes a call or a step: the log must be closed all the same.
    forceClose(this.#parts.session)
    if (error instanceof TurnStop) return error.reason
    return failTurn('hook/failed', `the turn could not go on: ${messageOf(error)}`).reason
  }

  /** Input that was claimed and not sent: the model reads it with the next turn. */
  #keepInput(): void {
    if (this.#pending.length === 0) return
    const { session, system, createId } = this.#parts
    settleHead(session, system, { turn: this.#turn, step: Math.max(this.#step, 1) }, createId)
    appendPending(this.#parts, this.#pending)
  }
}

function forceClose(session: Session): void {
  for (const closer of interruptedTurnClosers(session.events)) {
    if (closer.type === 'step/end') session.append('step/end', closer.data)
    else if (closer.type === 'tool/result') {
      const { surfaceOp, sourceEventSeqs } = closer
      session.append('tool/result', closer.data, { surfaceOp, ...(sourceEventSeqs && { sourceEventSeqs }) })
    }
  }
}
