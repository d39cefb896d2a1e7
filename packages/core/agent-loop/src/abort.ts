import { TurnStop } from './turn-stop.ts'

/** Why a turn's signal was aborted: named as the platform names it, since tools and providers ask for that name. */
export class TurnAborted extends Error {
  override readonly name: string = 'AbortError'
  readonly turnCause: string | undefined

  constructor(cause?: string) {
    super(cause === undefined ? 'the turn was aborted' : `the turn was aborted: ${cause}`)
    this.turnCause = cause
  }
}

/** Throws `TurnStop` when the turn was aborted. */
export function throwIfAborted(signal: AbortSignal): void {
  if (signal.aborted) throw abortStop(signal)
}

export function abortStop(signal: AbortSignal): TurnStop {
  const reason: unknown = signal.reason
  const cause = reason instanceof TurnAborted ? reason.turnCause : undefined
  return new TurnStop({ kind: 'aborted', ...(cause === undefined ? {} : { cause }) })
}

/**
 * Awaits `work` until the turn is aborted and `graceMs` more have passed; then throws `TurnStop`, and what `work` does
 * later is nobody's business. Work that ends within the grace has had its effects, but the turn stops all the same.
 */
export async function whileRunning<Value>(
  signal: AbortSignal,
  work: Value | PromiseLike<Value>,
  graceMs = 0,
): Promise<Value> {
  const value = await untilAborted(signal, work, graceMs)
  throwIfAborted(signal)
  return value
}

/** As `whileRunning`, but what ends before the abort is noticed counts. */
export async function untilAborted<Value>(
  signal: AbortSignal,
  work: Value | PromiseLike<Value>,
  graceMs = 0,
): Promise<Value> {
  const watch = watchAbort(signal, graceMs)
  try {
    return await Promise.race([work, watch.expired])
  } catch (error) {
    throwIfAborted(signal)
    throw error
  } finally {
    watch.stop()
  }
}

interface AbortWatch {
  /** Rejects once the grace after an abort is over; never resolves. */
  readonly expired: Promise<never>
  stop(): void
}

export function watchAbort(signal: AbortSignal, graceMs: number): AbortWatch {
  let timer: ReturnType<typeof setTimeout> | undefined
  let onAbort = (): void => undefined
  const expired = new Promise<never>((_, reject) => {
    const expire = (): void => reject(abortStop(signal))
    onAbort = (): void => {
      if (graceMs <= 0) expire()
      else timer = setTimeout(expire, graceMs)
    }
    if (signal.aborted) onAbort()
    else signal.addEventListener('abort', onAbort, { once: true })
  })
  expired.catch(() => undefined)
  return {
    expired,
    stop: () => {
      clearTimeout(timer)
      signal.removeEventListener('abort', onAbort)
    },
  }
}
