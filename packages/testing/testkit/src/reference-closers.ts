import { answerOf, callsOf, memberOf, type ReferenceEvent, type ReferenceSession } from './reference-session.ts'

/** What a closer must say, without the wording of its text. SPEC 4. */
export interface ExpectedCloser {
  readonly type: 'tool/result' | 'step/end' | 'turn/end'
  readonly callId?: string
  readonly code?: 'TOOL_OUTCOME_UNKNOWN' | 'TOOL_NOT_STARTED'
  readonly cites?: number
}

/** The closers that a log needs, worked out from the whole log. SPEC 4. */
export function referenceClosers(session: ReferenceSession): ExpectedCloser[] {
  const entries = session.entries()
  const results = session.openCalls().map((callId): ExpectedCloser => {
    const opener = entries.findLast((entry) => callsOf(entry).includes(callId)) as ReferenceEvent
    const call = session.log.findLast(
      (event) => event.type === 'tool/call' && event.seq > opener.seq && memberOf(event, 'callId') === callId,
    )
    return call === undefined
      ? { type: 'tool/result', callId, code: 'TOOL_NOT_STARTED' }
      : { type: 'tool/result', callId, code: 'TOOL_OUTCOME_UNKNOWN', cites: call.seq }
  })
  const { turn, step } = session.position()
  return [
    ...results,
    ...(step === undefined ? [] : [{ type: 'step/end' } as const]),
    ...(turn === undefined ? [] : [{ type: 'turn/end' } as const]),
  ]
}

/** The same view of events that a kernel made. */
export function describeClosers(events: readonly ReferenceEvent[]): ExpectedCloser[] {
  return events.map((event) => {
    const type = event.type as ExpectedCloser['type']
    if (type !== 'tool/result') return { type }
    const error = memberOf(event, 'error') as { code: string } | undefined
    return {
      type,
      callId: answerOf(event) ?? '',
      code: error?.code as 'TOOL_NOT_STARTED',
      ...(event.sourceEventSeqs === undefined ? {} : { cites: Number(event.sourceEventSeqs) }),
    }
  })
}
