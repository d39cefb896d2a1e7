import { activeCompaction } from '@palimpsest/compact'
import type { Session } from '@palimpsest/session'

/** Resolves when no compaction of the session is under way, or with the signal. */
export async function compactionEnded(session: Session, signal: AbortSignal): Promise<void> {
  if (activeCompaction(session) === undefined || signal.aborted) return
  await new Promise<void>((resolve) => {
    const done = (): void => {
      stop()
      signal.removeEventListener('abort', done)
      resolve()
    }
    const stop = session.on('session/event', () => {
      if (activeCompaction(session) === undefined) done()
    })
    signal.addEventListener('abort', done)
  })
}
