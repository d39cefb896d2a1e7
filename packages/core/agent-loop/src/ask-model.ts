import type { StepRef } from '@palimpsest/session'
import { whileRunning } from './abort.ts'
import type { RequestFailure } from './failure.ts'
import type { LoopParts } from './loop-config.ts'
import { type AssistantEvent, callModel } from './model-call.ts'
import { settleHeader } from './request-header.ts'
import { retryDelay } from './retry.ts'
import { stopOf } from './turn-stop.ts'

/** The answer of a step. `finish` is how the model says it ended, `aborted` for a visible prefix. */
export interface ModelAnswer {
  readonly message: AssistantEvent
  readonly finish: string
}

/** Sends the step's request until it is answered, refused, or tried often enough. Throws `TurnStop`. */
export async function askModel(parts: LoopParts, place: StepRef, signal: AbortSignal): Promise<ModelAnswer> {
  let overflowed = false
  for (let attempt = 1; ; attempt += 1) {
    const header = await settleHeader(parts, { ...place, attempt, signal })
    const result = await callModel(parts, { place, attempt, header, signal })
    if ('message' in result) return result
    const { failed } = result
    const verdict = await judge(parts, { ...place, attempt, signal, failed, overflowed })
    if (verdict === 'fail') throw stopOf(failed.failure, failed.error)
    if (failed.kind === 'overflow') overflowed = true
    if (verdict === 'wait') {
      const delay = retryDelay(failed.error, attempt, parts.retry, parts.now())
      await whileRunning(signal, parts.sleep(delay, signal))
    }
  }
}

interface FailedAttempt extends StepRef {
  readonly attempt: number
  readonly signal: AbortSignal
  readonly failed: RequestFailure
  /** Whether a retry of this step was spent on an overflow already. */
  readonly overflowed: boolean
}

/** `wait`: again after the backoff; `now`: again at once, since a hook mended what was wrong. */
async function judge(
  { session, hooks, retry }: LoopParts,
  { turn, step, attempt, signal, failed, overflowed }: FailedAttempt,
): Promise<'wait' | 'now' | 'fail'> {
  const { kind, error } = failed
  const isLast = attempt >= retry.maxAttempts
  const willRetry = kind === 'retryable' && !isLast
  const answer = await hooks.first('agent/request-error', {
    session,
    turn,
    step,
    signal,
    attempt,
    kind,
    error,
    willRetry,
  })
  if (answer === 'fail') return 'fail'
  if (willRetry) return 'wait'
  const mayRetry = kind === 'overflow' ? !overflowed : !isLast
  return answer === 'retry' && mayRetry ? 'now' : 'fail'
}
