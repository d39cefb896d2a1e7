import { failedOutcome, outcomeOf, synthetic } from './tool-output.ts'
import type { ToolSlot } from './tool-slot.ts'
import type { ToolOutcome } from './tools.ts'

interface RunningBody {
  /** Its outcome, whenever that is; never rejects. */
  readonly outcome: Promise<ToolOutcome>
  /** Resolves when the body is out of time; never without a limit. */
  readonly timedOut: Promise<ToolOutcome>
  /** Takes the clock away. */
  readonly stopClock: () => void
}

/** Starts the body of a call. */
export function startBody(slot: ToolSlot, turnSignal: AbortSignal): RunningBody {
  const { tool } = slot
  if (tool === undefined) throw new Error(`call ${slot.call.callId} has no tool`)
  const timeout = new AbortController()
  const signal = AbortSignal.any([turnSignal, timeout.signal])
  const progress = (content: Parameters<ToolSlot['recordProgress']>[0]): void => {
    if (slot.outcome === undefined) slot.recordProgress(content)
  }
  const { callId, input } = slot.call
  const run = async (): Promise<ToolOutcome> => {
    try {
      return outcomeOf(await tool.tool.execute(input, { ...slot.place, callId, signal, progress }))
    } catch (error) {
      return turnSignal.aborted && isAbort(error, turnSignal) ? synthetic.aborted() : failedOutcome(error)
    }
  }
  let timer: ReturnType<typeof setTimeout> | undefined
  const { timeoutMs } = tool.tool
  const timedOut = new Promise<ToolOutcome>((resolve) => {
    if (timeoutMs === undefined) return
    timer = setTimeout(() => {
      resolve(synthetic.timeout(timeoutMs))
      timeout.abort(new DOMException(`no result within ${timeoutMs} ms`, 'TimeoutError'))
    }, timeoutMs)
  })
  return { outcome: run(), timedOut, stopClock: () => clearTimeout(timer) }
}

/** Whether a body ended because of the signal: it threw the reason, or what aborted work throws. */
function isAbort(error: unknown, signal: AbortSignal): boolean {
  return error === signal.reason || (error instanceof Error && error.name === 'AbortError')
}
