import type { ContentBlock, Message } from '@palimpsest/session'
import { unframeSummary } from './frame.ts'

/** A title that content could only forge at the start of a line. */
const title = /^(?=#{2,} )/gm

/**
 * A span of messages as one text, in full: who said what, which tools were called with what, and what they answered. A
 * line of the content that looks like a title of this text is set off. Same input, same text.
 */
export function renderTranscript(messages: readonly Message[]): string {
  return messages.map((message) => `## ${speaker(message)}\n\n${said(message)}`).join('\n\n')
}

function said(message: Message): string {
  const blocks = message.content.map((block) =>
    block.type === 'text' && isSummaryMessage(message) ? quoted(unframeSummary(block.text)) : render(block),
  )
  return blocks.join('\n\n')
}

/** Whether a message stands for a compacted range. */
export function isSummaryMessage({ source }: Message): boolean {
  return source.kind === 'plugin' && source.plugin === 'compact'
}

function speaker(message: Message): string {
  const { role, source } = message
  if (isSummaryMessage(message)) return 'Summary of what came before'
  if (source.kind === 'tool') return 'Tool result'
  if (role !== 'user') return role === 'system' ? 'System' : 'Assistant'
  return source.kind === 'user' ? 'User' : `User (${source.kind})`
}

function render(block: ContentBlock): string {
  switch (block.type) {
    case 'text':
      return quoted(block.text)
    case 'reasoning':
      return block.text === '' ? '[reasoning]' : `[reasoning] ${quoted(block.text)}`
    case 'image':
      return `[image ${block.attachment.name ?? block.attachment.mediaType}]`
    case 'tool-call':
      return `[call of ${block.name}] ${quoted(block.arguments)}`
    case 'tool-result':
      return `${block.isError === true ? '[error] ' : ''}${block.content.map(render).join('\n\n')}`
    default:
      return quoted(JSON.stringify(block))
  }
}

/** Also well-formed: a half of a surrogate pair is no text on any wire. */
function quoted(text: string): string {
  return text.replaceAll(title, ' ').replaceAll(/\p{Surrogate}/gu, '\ufffd')
}
