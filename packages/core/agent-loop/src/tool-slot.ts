import {
  type EventOf,
  type MessageId,
  type SessionSeq,
  type StepRef,
  SessionAcceptanceError,
} from '@palimpsest/session'
import { lateData } from './late-results.ts'
import type { LoopParts } from './loop-config.ts'
import { failedOutcome } from './tool-output.ts'
import type { CompiledTool } from './tool-set.ts'
import type { RequestedCall, ToolContext, ToolOutcome } from './tools.ts'

/** One call of a step and how far it came. */
export class ToolSlot {
  readonly place: StepRef
  call: RequestedCall
  tool: CompiledTool | undefined
  /** Seq of its `tool/call`: from then on the body may run. */
  recorded: SessionSeq | undefined
  isRunning = false
  /** Once it is there the call is closed: what comes later is a late result. */
  outcome: ToolOutcome | undefined
  readonly #parts: LoopParts

  constructor(
    parts: LoopParts,
    place: StepRef,
    block: { readonly id: RequestedCall['callId']; readonly name: string; readonly arguments: string },
  ) {
    this.#parts = parts
    this.place = place
    this.call = { callId: block.id, name: block.name, arguments: block.arguments, input: undefined }
    this.tool = parts.tools.get(block.name)
  }

  recordCall(): void {
    const { callId, name, arguments: text } = this.call
    this.recorded = this.#parts.session.append('tool/call', { ...this.place, callId, name, arguments: text }).seq
  }

  /** A finished result that waits for an earlier call: a crash must not lose it. Returns it as the log takes it. */
  recordWaiting(outcome: ToolOutcome): ToolOutcome {
    try {
      this.#appendWaiting(outcome)
      return outcome
    } catch (error) {
      if (!(error instanceof SessionAcceptanceError)) throw error
      const failed = failedOutcome(error)
      this.#appendWaiting(failed)
      return failed
    }
  }

  recordProgress(content: Parameters<ToolContext['progress']>[0]): void {
    const blocks = typeof content === 'string' ? [{ type: 'text' as const, text: content }] : content
    this.#parts.session.append('tool/progress', { ...this.place, callId: this.call.callId, content: blocks })
  }

  recordResult(outcome: ToolOutcome): void {
    try {
      this.#appendResult(outcome)
    } catch (error) {
      // What the tool or a hook made is no result; the call must be answered all the same.
      if (!(error instanceof SessionAcceptanceError)) throw error
      this.#appendResult(failedOutcome(error))
    }
  }

  recordLate(outcome: ToolOutcome): void {
    const { session } = this.#parts
    try {
      session.append('tool/late-result', lateData(this.place, this.call.callId, outcome))
    } catch (error) {
      if (!(error instanceof SessionAcceptanceError)) throw error
      session.append('tool/late-result', lateData(this.place, this.call.callId, failedOutcome(error)))
    }
  }

  #appendWaiting(outcome: ToolOutcome): void {
    const { error, meta } = outcome
    const data = {
      ...lateData(this.place, this.call.callId, outcome),
      final: true as const,
      ...(error && { error }),
      ...(meta === undefined ? {} : { meta }),
    }
    this.#parts.session.append('tool/progress', data)
  }

  #appendResult({ content, isError, error, meta }: ToolOutcome): EventOf<'tool/result'> {
    const { session, createId } = this.#parts
    const { callId } = this.call
    const block = { type: 'tool-result' as const, toolCallId: callId, content, ...(isError ? { isError: true } : {}) }
    const message = {
      id: createId() as MessageId,
      role: 'user' as const,
      content: [block] as const,
      source: { kind: 'tool' as const, callId },
    }
    const data = { ...this.place, message, ...(error && { error }), ...(meta === undefined ? {} : { meta }) }
    const sources = this.recorded === undefined ? {} : { sourceEventSeqs: [this.recorded] }
    return session.append('tool/result', data, { surfaceOp: 'append', ...sources })
  }
}
