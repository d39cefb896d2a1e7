import { writeSync } from 'node:fs'
import { Session } from '@palimpsest/session'
import { type SessionHandle, persistSession } from '@palimpsest/session-persistence'
import { jsonlPersistence } from '@palimpsest/session-persistence-jsonl'
import { converse, id, vocabulary, work } from '../conversation.ts'

/**
 * Runs the conversation in its own process. Arguments: root of the store, path of the side effects, and where to stop:
 * `appended SEQ` right after that event was appended, `durable SEQ` when it is durable and nothing after it is. It says
 * `appended SEQ TYPE`, `durable SEQ`, `asked` when a request has reached the model, and at its end `stopped` or `ended`.
 */
const [root = '', effectsPath = '', mode = '', at = ''] = process.argv.slice(2)
const stopAt = Number(at)

function say(line: string): void {
  writeSync(1, `${line}\n`)
}

/** Blocks the process as it is: no timer, no write and no tool goes on. */
function stop(): void {
  say('stopped')
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)
}

/** Says what the handle acknowledged, and takes a batch apart where the process is to stop inside it. */
function announcing(handle: SessionHandle): SessionHandle {
  const append: SessionHandle['append'] = async (events) => {
    const stops = mode === 'durable' && events.some(({ seq }) => seq === stopAt)
    const batch = stops ? events.filter(({ seq }) => seq <= stopAt) : events
    await handle.append(batch)
    say(`durable ${batch.at(-1)?.seq}`)
    if (stops) stop()
  }
  return new Proxy(handle, {
    get: (target, name) => {
      if (name === 'append') return append
      const member: unknown = Reflect.get(target, name, target)
      return typeof member === 'function' ? (member.bind(target) as unknown) : member
    },
  })
}

let clock = 1_700_000_000_000
const session = Session.create({ id, createdAt: clock, vocabulary, now: () => (clock += 1) })
session.on('session/event', ({ seq, type }) => {
  say(`appended ${seq} ${type}`)
  if (mode === 'appended' && seq === stopAt) stop()
})
const handle = announcing(await jsonlPersistence({ root }).create(session.header))
// Only a barrier writes: what the loop does not wait for is lost.
const persisted = persistSession(session, handle, { maxBatchDelayMs: 1_000_000 })
const flush = (): Promise<void> => persisted.flush()
const { loop } = converse(session, { effectsPath, flush, onRequest: () => say('asked') })
await work(session, loop, flush)
await persisted.close()
say('ended')
