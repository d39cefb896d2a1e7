import { createHash } from 'node:crypto'
import { type Message, type Session, Session as Sessions, type SessionEvent, stringifyEvent } from '@palimpsest/session'
import { type FileRecord, recordsOf } from '@palimpsest/workspace-context'

/** What a careful reader takes from a message, by the rule that the message states. */
export interface Quotation {
  readonly path: string
  readonly text: string
  readonly changed: boolean
}

export const digestOf = (text: string): string => `sha256:${createHash('sha256').update(text).digest('hex')}`

export const textOf = (message: Message | undefined): string =>
  (message?.content ?? []).map((block) => (block.type === 'text' ? block.text : '')).join('')

/** Reads the quotations line by line; throws where a frame is not closed or a line between frames is not one of ours. */
export function quotationsIn(text: string): readonly Quotation[] {
  const [, mark] = /followed by the mark ([0-9a-f]{16})\.$/m.exec(text) ?? []
  const lines = text.split('\n')
  if (mark === undefined) return []
  const found: Quotation[] = []
  let open: { path: string; changed: boolean; lines: string[] } | undefined
  for (const line of lines) {
    if (line.startsWith(`BEGIN ${mark} `)) {
      if (open !== undefined) throw new Error('a quotation begins inside another')
      const [, path, note] = /^BEGIN [0-9a-f]{16} (".*")( \(changed[^"]*\))?$/.exec(line) ?? []
      open = { path: JSON.parse(path ?? '') as string, changed: note !== undefined, lines: [] }
    } else if (line === `END ${mark}`) {
      if (open === undefined) throw new Error('a quotation ends that did not begin')
      found.push({ path: open.path, changed: open.changed, text: open.lines.join('\n') })
      open = undefined
    } else open?.lines.push(line)
  }
  if (open !== undefined) throw new Error('a quotation does not end')
  return found
}

/** The messages of the plugin that the model sees now. */
export const contextMessages = (session: Session): readonly Message[] =>
  session.deriveMessages().filter((message) => recordsOf(message) !== undefined)

export const recordsNow = (session: Session): readonly FileRecord[] =>
  contextMessages(session).flatMap((message) => recordsOf(message) ?? [])

export const quotedNow = (session: Session): readonly Quotation[] =>
  contextMessages(session).flatMap((message) => quotationsIn(textOf(message)))

/** Whether a quotation is that of `text`: a last line end is not told apart. */
export const quotes = (quotation: Quotation | undefined, text: string): boolean =>
  quotation?.text === text || `${quotation?.text ?? ''}\n` === text

/** The session as another process finds it. */
export function reopened(session: Session): Session {
  const { header, events, inheritedEventCount } = session
  const copies = events.map((event) => JSON.parse(stringifyEvent(event)) as SessionEvent)
  return Sessions.restore({ header, events: copies, inheritedEventCount })
}
