import { isSessionSeq, type SessionEvent } from '@palimpsest/session'

/** Whether a value has the envelope of an event, as far as a store relies on it; its payload is not looked at. SPEC 2.1. */
export function hasEnvelope(value: object): value is SessionEvent {
  const { type, seq, time, data } = value as { readonly [member: string]: unknown }
  return (
    typeof type === 'string' &&
    type !== '' &&
    isSessionSeq(seq) &&
    Number.isSafeInteger(time) &&
    typeof data === 'object' &&
    data !== null &&
    !Array.isArray(data)
  )
}
