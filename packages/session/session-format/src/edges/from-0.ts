import type { JsonObject } from '@palimpsest/session'
import type { EdgeContext, FormatEdge, FormatEvent, FormatLog } from '../log.ts'
import { isObject } from '../members.ts'
import { requireKnown } from './vocabulary.ts'

/**
 * Version 0 to 1: the vocabulary is closed from here on, and a message without identity gets
 * `legacy-message:<session>:<seq>`. The runs of chunks were expanded when the rows were read. No seq moves. SPEC 6.
 */
export const edgeFrom0: FormatEdge = {
  from: 0,
  to: 1,
  migrate: (log, context) => ({ header: { ...log.header, version: 1 }, events: freeze(log, context) }),
}

async function* freeze({ header, events }: FormatLog, { packs }: EdgeContext): AsyncGenerator<FormatEvent, void, void> {
  for await (const event of events) {
    requireKnown(event, 0, packs)
    yield identified(event, header.id)
  }
}

function identified(event: FormatEvent, session: string): FormatEvent {
  const { type, seq, data } = event
  const named = (message: JsonObject): JsonObject =>
    Object.hasOwn(message, 'id') ? message : { id: `legacy-message:${session}:${seq}`, ...message }
  if (type === 'user/message') return { ...event, data: named(data) }
  const { message } = data
  if ((type !== 'assistant/message' && type !== 'tool/result') || !isObject(message)) return event
  return { ...event, data: { ...data, message: named(message) } }
}
