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

/** A call that no result has answered yet. */
interface OutstandingCall {
  readonly place: StepRef
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
 * from their place count as late once repair has closed their call. Ids of calls come back: a closed call is told from
 * the others of its id by its turn and step. SPEC 3.1, 4.
 */
export class LateResults {
  /** By id: of the calls with one id only one is outstanding. */
  readonly #calls = new Map<ToolCallId, OutstandingCall>()
  /** Finished results behind a synthetic answer, not recorded as late yet. */
  readonly #owed = new Map<string, EventOf<'tool/progress'>>()
  readonly #undelivered = new Map<SessionSeq, EventOf<'tool/late-result'>>()

  see(event: SessionEvent): void {
    switch (event.type) {
      case 'assistant/message':
        for (const block of event.data.message.content) {
          if (block.type === 'tool-call') this.#calls.set(block.id, { place: event.data })
        }
        return
      case 'tool/progress': {
        const call = this.#calls.get(event.data.callId)
        if (call !== undefined && isSamePlace(call.place, event.data) && isFinal(event)) call.waiting = event
        return
      }
      case 'tool/result':
        return this.#settle(event)
      case 'tool/late-result':
        this.#owed.delete(keyOf(event.data))
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
      message: lateMessage(event, toolOf(session, event), createId),
      sourceEventSeqs: [event.seq],
    }))
  }

  #settle(event: EventOf<'tool/result'>): void {
    if (event.surfaceOp !== 'append') return
    const { callId } = event.data.message.source
    const waiting = this.#calls.get(callId)?.waiting
    this.#calls.delete(callId)
    if (waiting === undefined || event.data.error?.code !== TOOL_OUTCOME_UNKNOWN) return
    this.#owed.set(keyOf(waiting.data), waiting)
  }
}

function lateMessage({ data }: EventOf<'tool/late-result'>, tool: string, createId: () => string): UserMessage {
  const text =
    `Late result of the tool ${JSON.stringify(tool)}, call ${JSON.stringify(data.callId)}. The call was answered before ` +
    `the tool had finished; ${isError(data) ? 'it failed since, and this is what it said' : 'this is what it returned since'}:`
  return {
    id: createId() as MessageId,
    role: 'user',
    content: [{ type: 'text', text }, ...data.content],
    source: { kind: 'plugin', plugin: 'agent-loop', about: 'late-result', callId: data.callId, tool },
  }
}

/** Name of the tool whose call this was. Late results are rare: the log is read for it instead of keeping every name. */
function toolOf(session: Session, { seq, data }: EventOf<'tool/late-result'>): string {
  for (let at = seq - 1; at >= 0; at -= 1) {
    const event = session.eventAt(at)
    if (event?.type !== 'assistant/message' || !isSamePlace(event.data, data)) continue
    for (const block of event.data.message.content) {
      if (block.type === 'tool-call' && block.id === data.callId) return block.name
    }
  }
  return 'unknown'
}

/** One step makes one message, in which no id stands twice. */
function keyOf({ turn, step, callId }: StepRef & { readonly callId: ToolCallId }): string {
  return JSON.stringify([turn, step, callId])
}

function isSamePlace(one: StepRef, other: StepRef): boolean {
  return one.turn === other.turn && one.step === other.step
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
