import type { Summarize } from '@palimpsest/compact'
import type { ContentBlock, Message, ToolCallBlock } from '@palimpsest/session'
import { unframeSummary } from './frame.ts'
import { isSummaryMessage } from './transcript.ts'

export interface ExtractSummarizerOptions {
  /** Characters that a summary has at most. Default 6,000. A small span gets less: an eighth of its own, at least 120. */
  readonly maxChars?: number
}

/** Members of a call's arguments that name a file. */
const pathMembers = ['path', 'file', 'file_path', 'filePath', 'filename', 'notebook_path']

/**
 * A summariser without a model: the first lines of what the user asked, how often each tool was called, the files that
 * calls named, the last words of the assistant, and what an earlier summary said. Deterministic, and made offline.
 */
export function extractSummarizer({ maxChars = 6000 }: ExtractSummarizerOptions = {}): Summarize {
  return ({ messages }) => ({ text: extract(messages, maxChars) })
}

function extract(messages: readonly Message[], maxChars: number): string {
  const length = messages.reduce((sum, { content }) => sum + JSON.stringify(content).length, 0)
  const room = Math.max(120, Math.min(maxChars, Math.floor(length / 8)))
  const earlier = messages.filter(isSummaryMessage).map((message) => unframeSummary(textOf(message)))
  const prompts = messages
    .filter(({ source }) => source.kind === 'user')
    .map((message) => clip(firstLine(textOf(message)), 120))
    .filter((line) => line !== '')
  const calls = messages.flatMap(({ content }) => content.filter((block) => block.type === 'tool-call'))
  const last = messages.findLast((message) => message.role === 'assistant' && textOf(message).trim() !== '')
  const sections = [
    ['Last words', last === undefined ? '' : clip(textOf(last).trim(), 300)],
    ['Asked', listed(prompts, Math.floor(room / 3))],
    ['Tools', listed(counted(calls.map(({ name }) => name)), Math.floor(room / 4))],
    ['Files', listed([...new Set(calls.flatMap(pathsOf))], Math.floor(room / 4))],
    ['Earlier', earlier.join('\n')],
  ].filter(([, text]) => text !== '')
  const whole = sections.map(([name, text]) => `${name}: ${text}`).join('\n')
  return whole === '' ? `${messages.length} messages without text.` : clip(whole, room)
}

function textOf({ content }: Message): string {
  return content.flatMap((block: ContentBlock) => (block.type === 'text' ? [block.text] : [])).join('\n')
}

function firstLine(text: string): string {
  return text.trim().split('\n', 1)[0] ?? ''
}

function clip(text: string, length: number): string {
  if (text.length <= length) return text
  // Half a surrogate pair is no text.
  return `${text.slice(0, Math.max(0, length - 1)).replace(/\p{Surrogate}$/u, '')}…`
}

/** The last ones that fit: what was asked last matters most. */
function listed(items: readonly string[], room: number): string {
  const kept: string[] = []
  let length = 0
  for (const item of items.toReversed()) {
    length += item.length + 2
    if (kept.length > 0 && length > room) return `… ${kept.toReversed().join('; ')}`
    kept.push(item)
  }
  return kept.toReversed().join('; ')
}

function counted(names: readonly string[]): string[] {
  const counts = new Map<string, number>()
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1)
  return [...counts].map(([name, count]) => `${name} ×${count}`)
}

function pathsOf({ arguments: json }: ToolCallBlock): string[] {
  try {
    const input: unknown = JSON.parse(json)
    if (typeof input !== 'object' || input === null) return []
    const members = input as Readonly<Record<string, unknown>>
    return pathMembers.flatMap((member) => {
      const path = members[member]
      return typeof path === 'string' && path !== '' ? [clip(path, 120)] : []
    })
  } catch {
    return []
  }
}
