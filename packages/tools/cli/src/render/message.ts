import type { ContentBlock, Message } from '@palimpsest/session'
import type { Style } from './style.ts'
import { bytes, count, oneLine, wrap } from './text.ts'

/** One line that says what a content block holds. */
export function blockLine(block: ContentBlock): string {
  switch (block.type) {
    case 'text':
      return oneLine(block.text)
    case 'reasoning':
      return block.text === '' ? '(hidden reasoning)' : `(reasoning) ${oneLine(block.text)}`
    case 'tool-call':
      return `${oneLine(block.name)}(${oneLine(block.arguments)})`
    case 'tool-result':
      return `${block.isError === true ? 'error: ' : ''}${contentLine(block.content)}`
    case 'image':
    case 'document':
      return `[${block.type} ${oneLine(block.attachment.mediaType)}, ${bytes(block.attachment.bytes)}]`
    default:
      return `[${oneLine(String((block as { type?: unknown }).type))}]`
  }
}

/** One line for all blocks of a message. */
export function contentLine(content: readonly ContentBlock[]): string {
  return content.length === 0 ? '(empty)' : content.map(blockLine).join(' · ')
}

/** Who speaks, from the reader's view. */
function speaker(message: Message): string {
  if (message.source.kind === 'tool') return 'tool'
  if (message.source.kind === 'plugin' && message.role === 'user') return 'plugin'
  return message.role
}

/** Messages one under another, numbered. */
export function messageLines(messages: readonly Message[], columns: number, style: Style): string {
  const shown = messages.map((message, index) => {
    const head = `${style('dim', `${index + 1}.`)} ${style('bold', speaker(message))} ${style('dim', oneLine(message.id))}`
    const lines = message.content.flatMap((block) => {
      return wrap(blockLine(block), Math.max(40, columns - 4)).map((line) => `    ${line}`)
    })
    return `${[head, ...lines].join('\n')}\n`
  })
  return `${shown.join('')}${style('dim', count(messages.length, 'message'))}\n`
}
