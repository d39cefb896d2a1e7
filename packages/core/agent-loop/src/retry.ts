import { APICallError } from '@ai-sdk/provider'
import type { RetryOptions } from './options.ts'

/** Longest wait that a timer can hold, in milliseconds: a longer one would end at once. */
export const LONGEST_WAIT: number = 2 ** 31 - 1

/** Longest wait that a provider may ask for, in milliseconds. */
const RETRY_AFTER_LIMIT = 60_000

/**
 * Milliseconds before the next attempt: what the provider asks for, up to a minute; else the backoff, which doubles.
 * `attempt` is the one that failed and counts from 1; `now` is in epoch milliseconds, for a date in `retry-after`.
 */
export function retryDelay(error: unknown, attempt: number, retry: Required<RetryOptions>, now: number): number {
  const asked = APICallError.isInstance(error) ? retryAfter(error.responseHeaders ?? {}, now) : undefined
  if (asked !== undefined && asked <= RETRY_AFTER_LIMIT) return asked
  return Math.min(retry.initialDelayMs * 2 ** (attempt - 1), retry.maxDelayMs)
}

function retryAfter(headers: Readonly<Record<string, string>>, now: number): number | undefined {
  const milliseconds = Number.parseFloat(headers['retry-after-ms'] ?? '')
  if (milliseconds >= 0) return milliseconds
  const value = headers['retry-after']
  if (value === undefined) return undefined
  const seconds = Number(value)
  const wait = Number.isNaN(seconds) ? Date.parse(value) - now : seconds * 1000
  return wait >= 0 ? wait : undefined
}

/** Waits, or rejects with the reason of the abort. */
export function sleep(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = (): void => {
      clearTimeout(timer)
      reject(new Error('aborted', { cause: signal.reason }))
    }
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', stop)
      resolve()
    }, ms)
    if (signal.aborted) stop()
    else signal.addEventListener('abort', stop, { once: true })
  })
}
