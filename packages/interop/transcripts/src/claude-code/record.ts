import type { ReadLine } from '../conversation/source-lines.ts'
import { objectMember, stringMember } from '../json.ts'
import type { LooseObject } from '../json.ts'
import { assistantBlocks, userBlocks } from './blocks.ts'

/** What a user line is for: decides where turns begin and end. */
export type UserClass = 'prompt' | 'command' | 'output' | 'interrupt' | 'meta' | 'summary'

/** What decides where a line belongs: names, edges and kinds, no content. */
export interface LineRecord {
  readonly line: number
  /** `blank` lines are counted only; `other` lines have no place on a surface. */
  readonly kind: 'user' | 'assistant' | 'boundary' | 'other' | 'blank'
  /** Why an `other` line is none of the surface. */
  readonly reason?: string
  /** The source's own name of what the line is, such as `system/turn_duration`. */
  readonly type?: string
  readonly uuid?: string
  readonly parent?: string
  readonly logicalParent?: string
  readonly sidechain: boolean
  readonly agent?: string
  readonly session?: string
  readonly cwd?: string
  /** Epoch milliseconds. */
  readonly time?: number
  /** Lines of one API response share it. */
  readonly group?: string
  readonly stopReason?: string
  /** Ids of the calls the line makes, as written: possibly empty, possibly repeated. */
  readonly calls: readonly string[]
  /** Ids of the calls the line answers, as written. */
  readonly results: readonly string[]
  /** Uuid of the assistant line whose call this one answers. */
  readonly answers?: string
  /** Whether a user line holds something beside results. */
  readonly hasContent: boolean
  /** Types of the blocks that no message can hold. */
  readonly oddBlocks: readonly string[]
  readonly userClass?: UserClass
  /** Uuids of lines that this one takes back. */
  readonly retracts: readonly string[]
  readonly preserved?: Preserved
  /** `leafUuid` of a `last-prompt` record. */
  readonly leaf?: string
}

/** Messages that a compaction keeps visible after its summary. */
export interface Preserved {
  readonly anchor?: string
  readonly head?: string
  readonly tail?: string
  readonly uuids: readonly string[]
}

const nothing = { sidechain: false, calls: [], results: [], hasContent: false, oddBlocks: [], retracts: [] } as const

/** Never throws: whatever is not understood is `other` with a reason. */
export function recordLine(read: ReadLine): LineRecord {
  if (read.kind === 'blank') return { ...nothing, line: read.line, kind: 'blank' }
  const { line, time } = read.kept
  if (read.kind === 'foreign') return { ...nothing, line, kind: 'other', reason: read.reason }
  return { ...nothing, line, ...envelope(read.value), ...defined({ time }), ...classify(read.value, line) }
}

function envelope(value: LooseObject): Partial<LineRecord> {
  return {
    sidechain: value['isSidechain'] === true,
    ...defined({
      uuid: nonEmpty(value, 'uuid'),
      parent: nonEmpty(value, 'parentUuid'),
      agent: nonEmpty(value, 'agentId'),
      session: nonEmpty(value, 'sessionId'),
      cwd: nonEmpty(value, 'cwd'),
    }),
    retracts: [...uuidList(value['supersedesUuids']), ...uuidList(value['retractedMessageUuids'])],
  }
}

type Classified = Pick<LineRecord, 'kind'> & Partial<LineRecord>

function classify(value: LooseObject, line: number): Classified {
  const type = stringMember(value, 'type')
  if (type === 'user' || type === 'assistant') {
    const message = objectMember(value, 'message')
    if (message === undefined) return { kind: 'other', type, reason: 'message/malformed' }
    return type === 'user' ? classifyUser(value, message) : classifyAssistant(value, message, line)
  }
  if (type === 'system') return classifySystem(value)
  if (type === 'attachment' || type === 'progress') {
    const detail = stringMember(objectMember(value, type === 'attachment' ? 'attachment' : 'data') ?? {}, 'type')
    return { kind: 'other', type: detail === undefined ? type : `${type}/${detail}`, reason: type }
  }
  if (type === undefined) return { kind: 'other', reason: 'line/no-type' }
  if (!stateTypes.has(type)) return { kind: 'other', type, reason: 'line/unknown-type' }
  return { kind: 'other', type, reason: 'state', ...defined({ leaf: leafOf(type, value) }) }
}

const stateTypes: ReadonlySet<string> = new Set(
  (
    'summary file-history-snapshot queue-operation permission-mode mode last-prompt custom-title ai-title agent-name ' +
    'agent-setting pr-link worktree-state relocated bridge-session frame-link content-replacement started result'
  ).split(' '),
)

function leafOf(type: string, value: LooseObject): string | undefined {
  return type === 'last-prompt' ? nonEmpty(value, 'leafUuid') : undefined
}

function classifyUser(value: LooseObject, message: LooseObject): Classified {
  const blocks = userBlocks(message['content'])
  if (blocks === undefined) return { kind: 'other', type: 'user', reason: 'message/malformed' }
  const summary = value['isCompactSummary'] === true
  if (value['isVisibleInTranscriptOnly'] === true && !summary) {
    return { kind: 'other', type: 'user', reason: 'message/transcript-only' }
  }
  const results = blocks.flatMap((block) => (block.kind === 'result' ? [block.callId] : []))
  const content = blocks.filter((block) => block.kind === 'content')
  const oddBlocks = blocks.flatMap((block) => (block.kind === 'odd' ? [block.type] : []))
  if (results.length === 0 && content.length === 0) {
    return { kind: 'other', type: 'user', reason: blocks.length === 0 ? 'message/empty' : 'block/unsupported' }
  }
  return {
    kind: 'user',
    type: 'user',
    results,
    hasContent: content.length > 0,
    oddBlocks,
    userClass: summary ? 'summary' : value['isMeta'] === true ? 'meta' : classOf(content[0]?.text ?? ''),
    ...defined({ answers: nonEmpty(value, 'sourceToolAssistantUUID') ?? nonEmpty(value, 'parentUuid') }),
  }
}

function classOf(text: string): UserClass {
  if (text.startsWith('[Request interrupted by user')) return 'interrupt'
  if (/^<(local-command|bash)-(stdout|stderr)>/.test(text)) return 'output'
  return /^<(command-(name|message)|bash-input)>/.test(text) ? 'command' : 'prompt'
}

function classifyAssistant(value: LooseObject, message: LooseObject, line: number): Classified {
  if (value['isApiErrorMessage'] === true || message['model'] === '<synthetic>') {
    return { kind: 'other', type: 'assistant', reason: 'message/synthetic' }
  }
  const blocks = assistantBlocks(message['content'])
  if (blocks === undefined) return { kind: 'other', type: 'assistant', reason: 'message/malformed' }
  const oddBlocks = blocks.flatMap((block) => (block.kind === 'odd' ? [block.type] : []))
  if (oddBlocks.length === blocks.length) {
    return { kind: 'other', type: 'assistant', reason: blocks.length === 0 ? 'message/empty' : 'block/unsupported' }
  }
  const id = nonEmpty(message, 'id')
  return {
    kind: 'assistant',
    type: 'assistant',
    group: id === undefined ? `line:${line}` : JSON.stringify([id, stringMember(value, 'requestId') ?? '']),
    calls: blocks.flatMap((block) => (block.kind === 'call' ? [block.id] : [])),
    oddBlocks,
    ...defined({ stopReason: nonEmpty(message, 'stop_reason') }),
  }
}

function classifySystem(value: LooseObject): Classified {
  const subtype = stringMember(value, 'subtype')
  if (subtype !== 'compact_boundary') {
    return { kind: 'other', type: subtype === undefined ? 'system' : `system/${subtype}`, reason: 'system' }
  }
  const metadata = objectMember(value, 'compactMetadata') ?? {}
  const segment = objectMember(metadata, 'preservedSegment') ?? {}
  const messages = objectMember(metadata, 'preservedMessages') ?? {}
  const listed = uuidList(messages['allUuids'])
  const preserved: Preserved = {
    ...defined({
      anchor: nonEmpty(segment, 'anchorUuid') ?? nonEmpty(messages, 'anchorUuid'),
      head: nonEmpty(segment, 'headUuid'),
      tail: nonEmpty(segment, 'tailUuid'),
    }),
    uuids: listed.length > 0 ? listed : uuidList(messages['uuids']),
  }
  return {
    kind: 'boundary',
    type: 'system/compact_boundary',
    reason: 'compaction/boundary',
    ...defined({ logicalParent: nonEmpty(value, 'logicalParentUuid') }),
    ...(preserved.tail !== undefined || preserved.uuids.length > 0 ? { preserved } : {}),
  }
}

function nonEmpty(value: LooseObject, member: string): string | undefined {
  const found = stringMember(value, member)
  return found === '' ? undefined : found
}

function uuidList(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((uuid): uuid is string => typeof uuid === 'string' && uuid !== '') : []
}

type Defined<T> = { [Member in keyof T]?: Exclude<T[Member], undefined> }
function defined<T extends object>(members: T): Defined<T> {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as Defined<T>
}
