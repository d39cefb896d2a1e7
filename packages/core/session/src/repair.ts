import type { EventOf, SessionEvent, StepRef } from './events.ts'
import type { MessageId, SessionSeq, ToolCallId } from './ids.ts'
import { callsOf } from './pairing.ts'

/** Code of a synthetic result whose tool may have run. SPEC 4. */
export const TOOL_OUTCOME_UNKNOWN = 'TOOL_OUTCOME_UNKNOWN'
/** Code of a synthetic result whose tool never started. SPEC 4. */
export const TOOL_NOT_STARTED = 'TOOL_NOT_STARTED'

const texts = {
  [TOOL_OUTCOME_UNKNOWN]:
    'The session was interrupted while this tool was running, so its outcome is unknown: it may have finished, partly ' +
    'or not at all. Retry it only if it just reads or is safe to repeat. Otherwise check the state of the world first, or ask the user.',
  [TOOL_NOT_STARTED]:
    'The session was interrupted before this tool started. Nothing was done, so it is safe to call it again.',
}

interface OpenCall extends StepRef {
  readonly callId: ToolCallId
  /** The last `tool/call` recorded for it since the assistant message that made it. */
  readonly recorded: SessionSeq | undefined
}

/** What is unfinished at the end of a log. */
interface OpenTail {
  readonly calls: ReadonlyMap<ToolCallId, OpenCall>
  readonly step: StepRef | undefined
  readonly turn: number | undefined
}

/**
 * The events that close what a crash left open, in order: an error result for each open call, `step/end`, `turn/end`.
 * Pure and deterministic; `[]` for a balanced log, so applying it twice equals once. SPEC 4.
 */
export function interruptedTurnClosers(events: readonly SessionEvent[]): SessionEvent[] {
  const last = events.at(-1)
  if (last === undefined) return []
  const { calls, step, turn } = openTail(events)
  const closers: SessionEvent[] = []
  const envelope = (): { seq: SessionSeq; time: number } => ({
    seq: (events.length + closers.length) as SessionSeq,
    time: last.time,
  })
  for (const call of calls.values()) closers.push(resultCloser(call, envelope()))
  if (step !== undefined) closers.push({ type: 'step/end', ...envelope(), data: { turn: step.turn, step: step.step } })
  if (turn !== undefined) {
    closers.push({ type: 'turn/end', ...envelope(), data: { turn, reason: { kind: 'interrupted' } } })
  }
  return closers
}

function openTail(events: readonly SessionEvent[]): OpenTail {
  const calls = new Map<ToolCallId, OpenCall>()
  let step: StepRef | undefined
  let turn: number | undefined
  for (const event of events) {
    switch (event.type) {
      case 'turn/start':
        turn = event.data.turn
        break
      case 'turn/end':
        turn = undefined
        step = undefined
        break
      case 'step/start':
        step = event.data
        break
      case 'step/end':
        step = undefined
        break
      case 'assistant/message':
        for (const callId of callsOf(event)) {
          calls.set(callId, { callId, turn: event.data.turn, step: event.data.step, recorded: undefined })
        }
        break
      case 'tool/call': {
        const call = calls.get(event.data.callId)
        if (call !== undefined) calls.set(call.callId, { ...call, recorded: event.seq })
        break
      }
      case 'tool/result':
        // A replacement of a result settles nothing: its call was answered already.
        if (event.surfaceOp === 'append') calls.delete(event.data.message.source.callId)
        break
      default:
    }
  }
  return { calls, step, turn }
}

function resultCloser(call: OpenCall, { seq, time }: { seq: SessionSeq; time: number }): EventOf<'tool/result'> {
  const { callId, turn, step, recorded } = call
  const code = recorded === undefined ? TOOL_NOT_STARTED : TOOL_OUTCOME_UNKNOWN
  return {
    type: 'tool/result',
    seq,
    time,
    surfaceOp: 'append',
    ...(recorded === undefined ? {} : { sourceEventSeqs: [recorded] }),
    data: {
      turn,
      step,
      message: {
        id: `interrupted-${seq}` as MessageId,
        role: 'user',
        content: [
          { type: 'tool-result', toolCallId: callId, content: [{ type: 'text', text: texts[code] }], isError: true },
        ],
        source: { kind: 'tool', callId },
      },
      error: { name: 'InterruptedError', code },
    },
  }
}
