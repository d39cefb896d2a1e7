import type { Finding, SessionId } from '@palimpsest/session'
import { PersistenceError, type SessionPersistence } from '@palimpsest/session-persistence'
import { loadImages } from '../attachments.ts'
import { isAboutLog } from '../exit.ts'
import { argument } from '../render/text.ts'
import { readStored } from '../store.ts'
import { checkAttachments } from './attachments.ts'
import { checkLog, checkStreams } from './log.ts'
import { checkProviders } from './providers.ts'
import { recoveryFindings } from './recovery.ts'

/**
 * All that is to be said about one session: its bytes, acceptance, traces, what is unfinished, attachments, and what two
 * providers would say of the derived messages. Changes nothing. Errors of the machine come through.
 */
export async function checkSession(
  store: SessionPersistence,
  id: SessionId,
  options: { readonly streams?: boolean } = {},
): Promise<Finding[]> {
  try {
    const stored = await readStored(store, id)
    const { findings, session } = checkLog(stored, id)
    const attachments = store.attachments(id)
    const found = [
      ...recoveryFindings(stored.recovered, id),
      ...findings,
      ...(await checkAttachments(stored.events, attachments, stored.header.importedFrom?.source)),
      ...(options.streams === true ? checkStreams(stored.events) : []),
    ]
    if (session === undefined || found.some(({ code }) => code === 'session/running')) return found
    return [...found, ...checkProviders(session, await loadImages(stored.events, attachments))]
  } catch (error) {
    if (!(error instanceof PersistenceError) || !isAboutLog(error.code)) throw error
    const fix = error.code === 'header/newer-version' ? 'upgrade palimpsest' : `palimpsest salvage ${argument(id)}`
    return [{ code: error.code, severity: 'error', message: error.message, fix }]
  }
}
