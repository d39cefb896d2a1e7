import { whileRunning } from './abort.ts'
import { messageOf } from './failure.ts'
import type { LoopConfig } from './loop-config.ts'
import { TurnStop, failTurn } from './turn-stop.ts'

/**
 * Waits until every event so far is durable. Throws `TurnStop`: `flush/failed` when that failed, `aborted` when the turn
 * was aborted meanwhile.
 */
export async function flushBarrier({ flush }: LoopConfig, signal: AbortSignal): Promise<void> {
  try {
    await whileRunning(signal, new Promise<void>((resolve) => resolve(flush())))
  } catch (error) {
    if (error instanceof TurnStop) throw error
    throw failTurn('flush/failed', `the log could not be made durable: ${messageOf(error)}`, error)
  }
}
