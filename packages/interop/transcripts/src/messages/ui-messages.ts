import type { Json, JsonObject, ResultContentBlock, TextBlock, ToolCallId, UserBlock } from '@palimpsest/session'
import type { DraftBlock, DraftOrigin, DraftResult } from '../conversation/draft.ts'
import { isObject, objectMember, plainJson, stringMember } from '../json.ts'
import type { LooseObject } from '../json.ts'
import { documentBlock, DraftList, originOf, textOfValue, typeOf } from './draft-list.ts'
import type { MessageElement, ReaderContext, ShapeReader } from './draft-list.ts'
import { membersOf, namesBeyond, withForm } from './kept.ts'
import { fileOf, plainOutput, taggedOutput } from './tool-output.ts'
import type { ToolOutput } from './tool-output.ts'
import { olderParts } from './ui-messages-v4.ts'

const shape = 'ui-messages'

/**
 * Reads `UIMessage`s of the AI SDK: an assistant's whole turn is one message, and a call and its result are one part.
 * Each step becomes a response and the results behind it. Version 4 is read as version 5. FORMATS 8.
 */
export const readUiMessages: ShapeReader = async (elements, context) => {
  const list = new DraftList()
  for (const element of elements) await readMessage(element, context, list)
  return list
}

async function readMessage(element: MessageElement, context: ReaderContext, list: DraftList): Promise<void> {
  const { line, value } = element
  const role = stringMember(value, 'role')
  const parts = Array.isArray(value['parts']) ? olderParts(value, value['parts']) : olderParts(value, undefined)
  if (parts === undefined) return list.raw(line, 'message/malformed', role)
  const { members } = membersOf(value, ['metadata'])
  const kept = members === undefined ? {} : withForm({}, shape, { members })
  const time = Date.parse(stringMember(value, 'createdAt') ?? '')
  const id = stringMember(value, 'id')
  const origin = { ...originOf(line, kept, id), ...(Number.isSafeInteger(time) ? { time } : {}) }
  const read = [
    'id',
    'role',
    'parts',
    'metadata',
    'createdAt',
    'content',
    'toolInvocations',
    'reasoning',
    'experimental_attachments',
  ]
  list.leave(line, namesBeyond(value, read))
  if (role === 'system') {
    const content = parts.flatMap((part): TextBlock[] => {
      const text = textOf(part)
      if (text === undefined) list.raw(line, 'block/unsupported', typeOf(part))
      return text === undefined ? [] : [{ type: 'text', text }]
    })
    list.drafts.push({ kind: 'system', origin, content, place: list.isEmpty ? 'head' : 'here' })
  } else if (role === 'user') list.user(origin, await userBlocks(parts, line, context, list))
  else if (role === 'assistant') await readAssistant(parts, origin, context, list)
  else list.raw(line, 'message/malformed', role)
}

function textOf(part: unknown): string | undefined {
  return isObject(part) && part['type'] === 'text' ? stringMember(part, 'text') : undefined
}

const metadata = (part: LooseObject): { members?: JsonObject } => membersOf(part, ['providerMetadata'])

async function userBlocks(
  parts: readonly unknown[],
  line: number,
  { keep }: ReaderContext,
  list: DraftList,
): Promise<UserBlock[]> {
  const blocks: UserBlock[] = []
  for (const part of parts) {
    const text = textOf(part)
    if (!isObject(part) || typeOf(part) === 'no type') list.raw(line, 'block/unsupported', typeOf(part))
    else if (text !== undefined) blocks.push(withForm({ type: 'text', text }, shape, metadata(part)))
    else blocks.push(part['type'] === 'file' ? await fileBlock(part, keep) : ownPart(part))
  }
  return blocks
}

async function fileBlock(part: LooseObject, keep: ReaderContext['keep']): Promise<UserBlock> {
  const inline = fileOf(part)
  if (inline === undefined) return ownPart(part, `[${textOfValue(part['mediaType'])} at ${textOfValue(part['url'])}]`)
  const attachment = { ...(await keep(inline)) }
  if (inline.mediaType.startsWith('image/')) {
    return withForm({ type: 'image', attachment }, shape, membersOf(part, ['filename', 'providerMetadata']))
  }
  const { url: _, ...rest } = part
  const bytes = { attachment, at: ['url'], as: 'url' as const }
  return withForm(documentBlock(attachment), shape, { part: plainJson(rest) as JsonObject, bytes })
}

/** A part that only a page has a place for: models read nothing of it, or the text that stands for it. */
function ownPart(part: LooseObject, text = ''): TextBlock {
  return withForm({ type: 'text', text }, shape, { part: plainJson(part) as JsonObject })
}

async function readAssistant(
  parts: readonly unknown[],
  origin: DraftOrigin,
  context: ReaderContext,
  list: DraftList,
): Promise<void> {
  const [line = 0] = origin.lines
  let blocks: DraftBlock[] = []
  let results: DraftResult[] = []
  let steps = 0
  const flush = (): void => {
    if (blocks.length > 0) list.model(origin, context, blocks)
    if (blocks.length > 0) steps += 1
    list.drafts.push(...results)
    blocks = []
    results = []
  }
  for (const part of parts) {
    if (!isObject(part)) list.raw(line, 'block/unsupported', typeof part)
    else if (part['type'] === 'step-start') flush()
    else {
      const found = await assistantPart(part, origin, context.keep)
      if (found === undefined) list.raw(line, 'block/unsupported', typeOf(part))
      else {
        blocks.push(found.block)
        if (found.result !== undefined) results.push(found.result)
        if (found.reason !== undefined) list.raw(line, found.reason, typeOf(part))
      }
    }
  }
  flush()
  if (steps === 0) list.raw(line, 'message/empty', 'assistant')
}

interface FoundPart {
  readonly block: DraftBlock
  readonly result?: DraftResult
  /** Why the element is kept raw too. */
  readonly reason?: string
}

async function assistantPart(
  part: LooseObject,
  origin: DraftOrigin,
  keep: ReaderContext['keep'],
): Promise<FoundPart | undefined> {
  const type = stringMember(part, 'type')
  if (type === undefined) return undefined
  const providerMetadata = objectMember(part, 'providerMetadata')
  const replay: Json = providerMetadata === undefined ? null : { providerMetadata: plainJson(providerMetadata) }
  const text = stringMember(part, 'text')
  if (type === 'text' && text !== undefined) return { block: { block: { type, text }, replay } }
  if (type === 'reasoning' && text !== undefined) return { block: { block: { type, text }, replay } }
  const inline = type === 'file' ? fileOf(part) : undefined
  if (inline?.mediaType.startsWith('image/') === true) {
    const attachment = await keep(inline)
    return { block: { block: withForm({ type: 'image', attachment }, shape, membersOf(part, ['filename'])), replay } }
  }
  const isTool = type === 'dynamic-tool' || type.startsWith('tool-')
  if (!isTool || part['providerExecuted'] === true) return { block: { block: ownPart(part), replay: null } }
  return toolPart(part, type, origin, keep)
}

async function toolPart(
  part: LooseObject,
  type: string,
  origin: DraftOrigin,
  keep: ReaderContext['keep'],
): Promise<FoundPart | undefined> {
  const name = type === 'dynamic-tool' ? stringMember(part, 'toolName') : type.slice('tool-'.length)
  if (name === undefined || name === '') return undefined
  const id = stringMember(part, 'toolCallId') ?? ''
  const input = part['input'] ?? part['rawInput'] ?? {}
  const call = { type: 'tool-call', id: id as ToolCallId, name, arguments: textOfValue(input) } as const
  const members = {
    ...membersOf(part, ['title', 'approval']).members,
    ...(type === 'dynamic-tool' ? { type } : {}),
  }
  const called = objectMember(part, 'callProviderMetadata')
  const block: DraftBlock = {
    block: Object.keys(members).length === 0 ? call : withForm(call, shape, { members }),
    replay: called === undefined ? null : { providerMetadata: plainJson(called) },
  }
  const answer = await answerOf(part, keep)
  if (answer === undefined) return { block }
  if (part['preliminary'] === true) return { block, reason: 'result/preliminary' }
  const { content, isError, form } = answer
  const kept = form === undefined ? {} : withForm({}, shape, { members: { output: form } })
  const result: DraftResult = {
    kind: 'result',
    origin: {
      lines: origin.lines,
      members: kept,
      ...(origin.time === undefined ? {} : { time: origin.time }),
    },
    callId: id,
    content,
    isError,
  }
  return { block, result }
}

interface Answer {
  readonly content: readonly ResultContentBlock[]
  readonly isError: boolean
  readonly form?: string
}

/** The output of a tool; a list of texts and pictures where it is written as one for models. */
async function outputOf(output: unknown, keep: ReaderContext['keep']): Promise<ToolOutput> {
  const isTagged = isObject(output) && output['type'] === 'content' && Object.keys(output).length === 2
  const given = isTagged ? await taggedOutput(output, keep) : undefined
  const isOneText = given?.content.length === 1 && given.content[0]?.type === 'text'
  return given === undefined || given.asText.length > 0 || isOneText ? plainOutput(output) : given
}

/** What a tool part says of its outcome; nothing while the tool runs or waits for approval. */
async function answerOf(part: LooseObject, keep: ReaderContext['keep']): Promise<Answer | undefined> {
  switch (part['state']) {
    case 'output-available': {
      const { content, form } = await outputOf(part['output'], keep)
      return { content, isError: false, ...(form === undefined ? {} : { form }) }
    }
    case 'output-error':
      return { content: [{ type: 'text', text: stringMember(part, 'errorText') ?? '' }], isError: true }
    case 'output-denied': {
      const reason = stringMember(objectMember(part, 'approval') ?? {}, 'reason')
      return {
        content: [{ type: 'text', text: reason ?? '[the user denied the call]' }],
        isError: true,
        form: 'denied',
      }
    }
    default:
      return undefined
  }
}
