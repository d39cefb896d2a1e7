import { redact, toJson } from '@palimpsest/session'
import type { CompactionFailureCode, Summarize, Summary, SummaryRequest } from './contract.ts'

/** Why there is no summary. */
export interface Failure {
  readonly code: CompactionFailureCode
  readonly message: string
}

export interface Patience {
  /** Ends the wait, whether or not the summariser heeds it. */
  readonly signal?: AbortSignal | undefined
  /** Milliseconds; no limit unless given. */
  readonly timeoutMs?: number | undefined
}

/** The longest delay that a timer takes; a longer one would fire at once. */
const MAX_DELAY_MS = 2 ** 31 - 1

/**
 * Asks for a summary and waits no longer than it was told, also where the summariser ignores its signal. What comes
 * later is dropped. Never rejects.
 */
export async function askForSummary(
  summarize: Summarize,
  request: Omit<SummaryRequest, 'signal'>,
  { signal, timeoutMs }: Patience,
): Promise<Summary | Failure> {
  const aborted: Failure = { code: 'aborted', message: 'the compaction was aborted' }
  // A listener of `compaction/start` may have aborted.
  if (signal?.aborted === true) return aborted
  const controller = new AbortController()
  let giveUp: (failure: Failure) => void = () => undefined
  const givenUp = new Promise<Failure>((resolve) => (giveUp = resolve))
  const stop = (failure: Failure): void => {
    controller.abort(signal?.aborted === true ? signal.reason : new Error(failure.message))
    giveUp(failure)
  }
  const onAbort = (): void => stop(aborted)
  const timer =
    timeoutMs === undefined
      ? undefined
      : setTimeout(
          () => stop({ code: 'timeout', message: `the summariser gave no answer within ${timeoutMs} ms` }),
          Math.min(timeoutMs, MAX_DELAY_MS),
        )
  signal?.addEventListener('abort', onAbort, { once: true })
  try {
    return await Promise.race([givenUp, answer(summarize, { ...request, signal: controller.signal })])
  } finally {
    clearTimeout(timer)
    signal?.removeEventListener('abort', onAbort)
  }
}

export function isFailure(value: Summary | Failure): value is Failure {
  return 'code' in value
}

async function answer(summarize: Summarize, request: SummaryRequest): Promise<Summary | Failure> {
  try {
    return checked(await summarize(request))
  } catch (error) {
    return { code: 'summarizer-failed', message: `the summariser failed: ${messageOf(error)}` }
  }
}

/** Foreign code answers: what the log could not hold is its failure, not ours. */
function checked(value: Summary): Summary | Failure {
  const { text, provider, model, usage, meta } = toJson(value) as unknown as Summary
  if (typeof text !== 'string') return { code: 'summarizer-failed', message: 'the summariser gave no text' }
  if (text.trim() === '') return { code: 'blank-summary', message: 'the summary has no text' }
  return {
    text,
    ...(provider === undefined ? {} : { provider }),
    ...(model === undefined ? {} : { model }),
    ...(usage === undefined ? {} : { usage }),
    ...(meta === undefined ? {} : { meta }),
  }
}

/** The words of whatever was thrown, less what no log may hold. Never throws. */
export function messageOf(error: unknown): string {
  try {
    return redact(String(error instanceof Error ? error.message : error))
  } catch {
    return 'what was thrown cannot be put into words'
  }
}
