/** A cold open through the JSONL store, in the default mode: every payload parsed, validated and frozen. */
import { Session } from '../../packages/core/session/src/session.ts'
import { sessionId } from '../../packages/core/session/src/ids.ts'
import { jsonlPersistence } from '../../packages/session/session-persistence-jsonl/src/index.ts'
import { reportOpened } from './report-opened.ts'

const [root, id] = process.argv.slice(2) as [string, string]
const handle = await jsonlPersistence({ root }).open(sessionId(id), 'read')
const session = Session.restore(handle.stored)
reportOpened(session, session.length)
