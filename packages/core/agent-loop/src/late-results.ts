import {
  type EventOf,
  type MessageId,
  type ResultContentBlock,
  type Session,
  type SessionEvent,
  type SessionSeq,
  type StepRef,
  TOOL_OUTCOME_UNKNOWN,
  type ToolCallId,
  type UserMessage,
} from '@palimpsest/session'

/** A result that the log holds and the model has not read. */
interface CallTrack {
  readonly name: string
  /** The last finished result that had to wait for its place, recorded as progress. */
  waiting?: EventOf<'tool/progress'>
}

/** A late result as the step delivers it. */
export interface LateDelivery {
  readonly message: UserMessage
  readonly sourceEventSeqs: readonly SessionSeq[]
}

/**
 * Results that came after their call was closed, until a user message cites them. Finished results that a crash kept
 * from their place count as late once repair has closed their call. SPEC 4.
 */
export class LateResults {
  readonly #calls = new Map<ToolCallId, CallTrack>()
  readonly #names = new Map<ToolCallId, string>()
  /** Finished results behind a synthetic answer, not recorded as late yet. */
  readonly #owed = new Map<ToolCallId, EventOf<'tool/progress'>>()
  readonly #undelivered = new Map<SessionSeq, EventOf<'tool/late-result'>>()

  see(event: SessionEvent): void {
    switch (event.type) {
      case 'assistant/message':
        for (const block of event.data.message.content) {
          if (block.type !== 'tool-call') continue
          this.#calls.set(block.id, { name: block.name })
          this.#names.set(block.id, block.name)
        }
        return
      case 'tool/progress': {
        const call = this.#calls.get(event.data.callId)
        if (call !== undefined && isFinal(event)) call.waiting = event
        return
      }
      case 'tool/result':
        return this.#settle(event)
      case 'tool/late-result':
        this.#owed.delete(event.data.callId)
        this.#undelivered.set(event.seq, event)
        return
      case 'user/message':
        for (const seq of event.sourceEventSeqs ?? []) this.#undelivered.delete(seq)
        return
      default:
    }
  }

  /** Records finished results that a crash kept from their place, and says what the next step tells the model. */
  due(session: Session, createId: () => string): LateDelivery[] {
    for (const { data } of Array.from(this.#owed.values())) {
      const { turn, step, callId, content } = data
      session.append('tool/late-result', lateData({ turn, step }, callId, { content, isError: isError(data) }))
    }
    return [...this.#undelivered.values()].map((event) => ({
      message: this.#message(event, createId),
      sourceEventSeqs: [event.seq],
    }))
  }

  #settle(event: EventOf<'tool/result'>): void {
    if (event.surfaceOp !== 'append') return
    const { callId } = event.data.message.source
    const waiting = this.#calls.get(callId)?.waiting
    this.#calls.delete(callId)
    if (waiting !== undefined && event.data.error?.code === TOOL_OUTCOME_UNKNOWN) this.#owed.set(callId, waiting)
  }

  #message({ data }: EventOf<'tool/late-result'>, createId: () => string): UserMessage {
    const name = this.#names.get(data.callId) ?? 'unknown'
    const text =
      `Late result of the tool ${JSON.stringify(name)}, call ${JSON.stringify(data.callId)}. The call was answered before ` +
      `the tool had finished; ${isError(data) ? 'it failed since, and this is what it said' : 'this is what it returned since'}:`
    return {
      id: createId() as MessageId,
      role: 'user',
      content: [{ type: 'text', text }, ...data.content],
      source: { kind: 'plugin', plugin: 'agent-loop', about: 'late-result', callId: data.callId, tool: name },
    }
  }
}

/** Payload of `tool/progress` and `tool/late-result`, with the members that this package adds. */
export function lateData(
  place: StepRef,
  callId: ToolCallId,
  result: { readonly content: readonly ResultContentBlock[]; readonly isError: boolean },
): StepRef & { readonly callId: ToolCallId; readonly content: readonly ResultContentBlock[]; readonly isError?: true } {
  return { ...place, callId, content: result.content, ...(result.isError ? { isError: true as const } : {}) }
}

function isFinal({ data }: EventOf<'tool/progress'>): boolean {
  return 'final' in data && data.final === true
}

function isError(data: object): boolean {
  return 'isError' in data && data.isError === true
}
