import type { JsonObject } from '@palimpsest/session'
import type { Draft, DraftOrigin, DraftRaw, DraftUser } from '../conversation/draft.ts'
import { plainJson, stringMember } from '../json.ts'
import type { LooseObject } from '../json.ts'
import { readAssistant } from './assistant.ts'
import { bashText } from './bash.ts'
import { readContent } from './content.ts'
import type { Keep } from './content.ts'
import { systemType } from './system.ts'

/** What a message or an entry becomes: the piece of the conversation, if any, and why its line is kept too, if it is. */
export interface ReadMessage {
  readonly draft?: Exclude<Draft, DraftRaw | { readonly kind: 'setting' | 'replace' | 'turn-end' }>
  readonly reason?: string
}

const malformed: ReadMessage = { reason: 'message/malformed' }

/** Reads a message by its role. FORMATS 3. */
export async function readMessage(message: LooseObject, origin: DraftOrigin, keep: Keep): Promise<ReadMessage> {
  switch (stringMember(message, 'role')) {
    case 'user':
      return readUser(message, origin, keep)
    case 'assistant': {
      const read = readAssistant(message, origin)
      if (read === undefined) return malformed
      // No event of an attempt names a line, so the line itself is kept.
      if (read.draft.kind === 'attempt') return { draft: read.draft, reason: 'message/empty' }
      return { draft: read.draft, ...(read.odd.length === 0 ? {} : { reason: 'block/unsupported' }) }
    }
    case 'toolResult':
      return readResult(message, origin, keep)
    case 'bashExecution':
      if (message['excludeFromContext'] === true) return { reason: 'message/transcript-only' }
      if (stringMember(message, 'command') === undefined) return malformed
      return { draft: said(origin, bashText(message), { bashExecution: membersOf(message, ['output']) }) }
    // The second name is that of version 2.
    case 'custom':
    case 'hookMessage':
      return readCustom(message, origin, keep)
    case 'branchSummary':
      return readSummary(message, origin, 'branchSummary')
    case 'compactionSummary':
      return readSummary(message, origin, 'compaction')
    default:
      return malformed
  }
}

async function readUser(message: LooseObject, origin: DraftOrigin, keep: Keep): Promise<ReadMessage> {
  const content = await readContent(message['content'], keep)
  if (content === undefined) return malformed
  const { blocks, odd } = content
  const reason = odd.length === 0 ? {} : { reason: 'block/unsupported' }
  if (blocks.length === 0 && odd.length > 0) return reason
  return { draft: { kind: 'user', origin, content: blocks, opensTurn: true }, ...reason }
}

async function readResult(message: LooseObject, origin: DraftOrigin, keep: Keep): Promise<ReadMessage> {
  const content = message['content'] ?? []
  const read = await readContent(
    Array.isArray(content) || typeof content === 'string' ? content : [content],
    keep,
    true,
  )
  const { blocks = [], odd = [] } = read ?? {}
  const draft = {
    kind: 'result',
    origin,
    callId: stringMember(message, 'toolCallId') ?? '',
    content: blocks,
    isError: message['isError'] === true,
    ...(odd.length === 0 ? {} : { asText: odd }),
    ...(Object.hasOwn(message, 'details') ? { meta: plainJson(message['details']) } : {}),
  } as const
  return { draft }
}

/** What an extension says to the model, as a message or as an entry of its own. */
export async function readCustom(message: LooseObject, origin: DraftOrigin, keep: Keep): Promise<ReadMessage> {
  const content = await readContent(message['content'], keep)
  if (content === undefined) return malformed
  const { blocks, odd } = content
  const reason = odd.length === 0 ? {} : { reason: 'block/unsupported' }
  const texts = blocks.filter((block) => block.type === 'text')
  if (message['customType'] === systemType && texts.length === blocks.length) {
    return { draft: { kind: 'system', origin, content: texts, place: 'here' }, ...reason }
  }
  if (blocks.length === 0 && odd.length > 0) return reason
  const plugin = { custom: membersOf(message, ['content']) }
  return { draft: { kind: 'user', origin, content: blocks, plugin, opensTurn: false }, ...reason }
}

/** The summary of a branch that was left or of a history that was compacted, as a message or as an entry of its own. */
export function readSummary(
  value: LooseObject,
  origin: DraftOrigin,
  member: 'branchSummary' | 'compaction',
): ReadMessage {
  const summary = stringMember(value, 'summary')
  if (summary === undefined) return malformed
  return { draft: said(origin, summary, { [member]: membersOf(value, ['summary', 'retainedTail']) }) }
}

const said = (origin: DraftOrigin, text: string, plugin: JsonObject): DraftUser => ({
  kind: 'user',
  origin,
  content: [{ type: 'text', text }],
  plugin,
  opensTurn: false,
})

const envelope: ReadonlySet<string> = new Set(['type', 'id', 'parentId', 'timestamp', 'role'])

/** The members of an entry or a message that say more than where it stands, without those that the content tells. */
function membersOf(value: LooseObject, without: readonly string[]): JsonObject {
  const kept = Object.entries(value).filter(([name]) => !envelope.has(name) && !without.includes(name))
  return plainJson(Object.fromEntries(kept)) as JsonObject
}
