import type { SessionSeq, StepRef, UserMessage } from '@palimpsest/session'
import { throwIfAborted } from './abort.ts'
import { type ModelAnswer, askModel } from './ask-model.ts'
import { messageOf } from './failure.ts'
import { settleHead } from './head.ts'
import type { LateDelivery } from './late-results.ts'
import type { LoopParts } from './loop-config.ts'
import { runTools } from './tool-runner.ts'
import { TurnStop, failTurn } from './turn-stop.ts'

/** One step of a turn, as it is asked for. */
export interface StepInput extends StepRef {
  readonly signal: AbortSignal
  /** Claimed input; each message leaves it when it is in the log. */
  readonly pending: UserMessage[]
  /** Called when the answer is in the log, before its tools run. */
  readonly onAnswer: (answer: ModelAnswer) => void
}

/** What the turn goes by. */
export interface StepOutcome {
  readonly finish: string
  readonly calls: number
}

/** One model call and the tools that it asks for. Throws `TurnStop`; then everything of the step is closed. SPEC 7.4. */
export async function runStep(parts: LoopParts, input: StepInput): Promise<StepOutcome> {
  const { session } = parts
  const { turn, step, signal } = input
  const place = { turn, step }
  const late = parts.log.late.due(session, parts.createId)
  const injected = await preStep(parts, input, late)
  throwIfAborted(signal)
  session.append('step/start', place)
  try {
    settleHead(session, parts.system, place, parts.createId)
    appendInjected(parts, injected)
    for (const { message, sourceEventSeqs } of late) {
      session.append('user/message', message, { surfaceOp: 'append', sourceEventSeqs })
    }
    appendPending(parts, input.pending)
    const answer = await askModel(parts, place, signal)
    input.onAnswer(answer)
    const calls = await runTools(parts, place, answer.message, signal)
    session.append('step/end', place)
    return { finish: answer.finish, calls }
  } catch (error) {
    // After anything else a call may be open, which the turn closes first.
    if (error instanceof TurnStop) session.append('step/end', place)
    throw error
  }
}

/** Appends claimed input, message by message, so that none is written twice and none is lost. */
export function appendPending({ session }: LoopParts, pending: UserMessage[]): void {
  for (let next = pending[0]; next !== undefined; next = pending[0]) {
    session.append('user/message', next, { surfaceOp: 'append' })
    pending.shift()
  }
}

interface Injected {
  readonly message: UserMessage
  readonly sourceEventSeqs: readonly SessionSeq[]
}

async function preStep(
  { session, hooks }: LoopParts,
  { turn, step, signal, pending }: StepInput,
  late: readonly LateDelivery[],
): Promise<Injected[]> {
  const injected: Injected[] = []
  let isOver = false
  const inject = (message: UserMessage, sourceEventSeqs: readonly number[] = []): void => {
    if (isOver) throw new Error('inject was called after the step had begun')
    injected.push({ message, sourceEventSeqs: sourceEventSeqs as readonly SessionSeq[] })
  }
  const input = [...late.map(({ message }) => message), ...pending]
  try {
    await hooks.all('agent/pre-step', { session, turn, step, signal, input, inject })
  } finally {
    isOver = true
  }
  return injected
}

function appendInjected({ session }: LoopParts, injected: readonly Injected[]): void {
  try {
    for (const { message, sourceEventSeqs } of injected) {
      const sources = sourceEventSeqs.length === 0 ? {} : { sourceEventSeqs }
      session.append('user/message', message, { surfaceOp: 'append', ...sources })
    }
  } catch (error) {
    throw failTurn('hook/failed', `what a listener of agent/pre-step injected was refused: ${messageOf(error)}`, error)
  }
}
