/** A cold open through the kernel: the floor's reading, then every payload validated and frozen. */
import type { SessionEvent } from '../../packages/core/session/src/events.ts'
import type { SessionHeader } from '../../packages/core/session/src/header.ts'
import { Session } from '../../packages/core/session/src/session.ts'
import { readLines } from './read-lines.ts'
import { reportOpened } from './report-opened.ts'

const [header, ...events] = readLines(process.argv[2] as string)
const session = Session.restore({
  header: header as SessionHeader,
  events: events as SessionEvent[],
  inheritedEventCount: 0,
})
reportOpened(session, session.length)
