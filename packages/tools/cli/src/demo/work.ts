import type { SessionId } from '@palimpsest/session'
import { type SessionPersistence, persistSession } from '@palimpsest/session-persistence'
import { restoreStored } from '../writing.ts'
import { demoAgent } from './agent.ts'
import { digestOfCall } from './requests.ts'
import { deployment } from './script.ts'
import type { WriterLine } from './writer.ts'

/** Goes on with a session until a tool hangs. */
export async function startWork(
  store: SessionPersistence,
  id: SessionId,
  say: (line: WriterLine) => void,
): Promise<void> {
  const handle = await store.open(id, 'write')
  const session = restoreStored(handle.stored)
  const persisted = persistSession(session, handle)
  let told = session.length
  const flush = async (): Promise<void> => {
    const end = session.length
    await persisted.flush()
    for (const { seq, type } of session.events.slice(told, end)) say({ durable: { seq, type } })
    told = Math.max(told, end)
  }
  await new Promise<void>((resolve) => {
    const loop = demoAgent({
      session,
      store,
      flush,
      answers: deployment.answers,
      hear: (call) => say({ request: digestOfCall(call) }),
      shell: (command) => {
        say({ running: command })
        resolve()
        return new Promise(() => undefined)
      },
    })
    void loop.send(deployment.prompt)
  })
}
