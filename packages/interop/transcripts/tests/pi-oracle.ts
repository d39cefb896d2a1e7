import type { Message } from '@palimpsest/session'

interface PiMessage {
  readonly role?: string
  readonly content?: string | readonly { readonly type: string; readonly id?: string }[]
  readonly toolCallId?: string
  readonly stopReason?: string
  readonly command?: string
  readonly excludeFromContext?: boolean
  readonly summary?: string
}

/** A line of a file that is JSON, with its number. */
export interface PiLine {
  readonly line: number
  readonly type?: string
  readonly id?: string
  readonly parentId?: string | null
  readonly message?: PiMessage
  readonly summary?: string
  readonly firstKeptEntryId?: string
  readonly firstKeptEntryIndex?: number
  readonly retainedTail?: readonly PiMessage[]
}

export function parsedLines(bytes: Uint8Array): PiLine[] {
  return new TextDecoder()
    .decode(bytes)
    .split('\n')
    .flatMap((text, index): PiLine[] => {
      try {
        return [{ ...(JSON.parse(text) as object), line: index + 1 }]
      } catch {
        return []
      }
    })
}

/** From a line to the root, as pi walks. */
function pathTo(lines: readonly PiLine[], leaf: PiLine | undefined): PiLine[] {
  const entries = lines.filter(({ type }) => type !== 'session' && type !== 'title')
  const path: PiLine[] = []
  for (let at = leaf; at !== undefined;) {
    path.unshift(at)
    const { parentId, line } = at
    at = entries.findLast((entry) => entry.line < line && (parentId === undefined || entry.id === parentId))
  }
  return path
}

/** Calls of the conversation that ends with the last line, also those that a compaction covers, and their answers. */
export function countCalls(lines: readonly PiLine[]): { calls: number; answered: number } {
  const path = pathTo(lines, lines.at(-1))
  const calls = path.flatMap(({ message }) =>
    typeof message?.content === 'object' ? message.content.filter(({ type }) => type === 'toolCall') : [],
  )
  const open = calls.map(({ id }) => id)
  let answered = 0
  for (const { message } of path) {
    const at = message?.role === 'toolResult' ? open.indexOf(message.toolCallId) : -1
    if (at === -1) continue
    open.splice(at, 1)
    answered += 1
  }
  return { calls: calls.length, answered }
}

/**
 * pi's own rule, at the end and at each compaction of the path: the last compaction's summary, what it keeps, and what
 * follows it. One word for each message, `call-less` ends of unanswered calls aside.
 */
export function contextsOf(lines: readonly PiLine[]): { readonly line: number; readonly context: readonly string[] }[] {
  const whole = pathTo(lines, lines.at(-1))
  const marks = whole.filter(({ type }) => type === 'compaction')
  return [...marks.map(({ line }) => line), Infinity].map((line) => {
    const path = whole.filter((entry) => entry.line <= line)
    const last = path.findLastIndex(({ type }) => type === 'compaction')
    const compaction = path[last]
    if (compaction === undefined) return { line, context: path.flatMap(wordOf) }
    const byIndex = lines[compaction.firstKeptEntryIndex ?? -1]
    const first = path.findIndex(
      (entry) => entry === byIndex || (entry.id !== undefined && entry.id === compaction.firstKeptEntryId),
    )
    const kept =
      compaction.retainedTail?.flatMap(wordOfMessage) ?? (first === -1 ? [] : path.slice(first, last).flatMap(wordOf))
    return { line, context: [`summary ${compaction.summary ?? ''}`, ...kept, ...path.slice(last + 1).flatMap(wordOf)] }
  })
}

function wordOf({ type, message, summary }: PiLine): string[] {
  if (type === 'branch_summary') return [`summary ${summary ?? ''}`]
  if (type === 'custom_message') return ['user']
  return type === 'message' && message !== undefined ? wordOfMessage(message) : []
}

function wordOfMessage(message: PiMessage): string[] {
  const { role, content = '', stopReason } = message
  if (role === 'toolResult') return [`result ${message.toolCallId ?? ''}`]
  if (role === 'bashExecution') return message.excludeFromContext === true ? [] : ['user']
  // A response without a word is none to a model.
  if (role === 'assistant') return content.length === 0 ? [] : [`assistant ${stopReason ?? ''}`]
  return role === 'user' || role === 'custom' || role === 'hookMessage' ? ['user'] : []
}

/** The same words for messages of ours; answers that nobody gave are left out. */
export function kindsOf(messages: readonly Message[]): string[] {
  return messages.flatMap((message): string[] => {
    const { source, content } = message as Message & { source: { readonly [member: string]: unknown } }
    const [first] = content
    if (first?.type === 'tool-result')
      return String(message.id).startsWith('interrupted-') ? [] : [`result ${first.toolCallId}`]
    if (message.role === 'assistant') {
      if (content.length === 0) return []
      const { response } = (source['replayState'] ?? {}) as { response?: { stopReason?: string } }
      return [`assistant ${response?.stopReason ?? ''}`]
    }
    const isSummary = 'compaction' in source || 'branchSummary' in source
    return isSummary && first?.type === 'text' ? [`summary ${first.text}`] : ['user']
  })
}
