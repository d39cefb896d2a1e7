import { basename, extname } from 'node:path'
import type { RequestConfig, SessionId } from '@palimpsest/session'
import { keepInline } from '../attachments.ts'
import type { InlineData } from '../attachments.ts'
import type { Draft } from '../conversation/draft.ts'
import type { KeptLine, ReadLine } from '../conversation/source-lines.ts'
import { writeConversation } from '../conversation/write.ts'
import { stringMember } from '../json.ts'
import type { LooseObject } from '../json.ts'
import type { ImportWarning } from '../report.ts'
import { readWhole, sourceName } from '../source.ts'
import type { AttachmentSink, ImportedSession, ImportOptions, TranscriptSource } from '../source.ts'
import { anthropicSystem, readAnthropic } from './anthropic.ts'
import { bodyOf, readBodies, settingsOf } from './body.ts'
import type { MessageBody } from './body.ts'
import type { ShapeReader } from './draft-list.ts'
import { foreignJson } from './foreign-json.ts'
import type { MessageShape } from './kept.ts'
import { readModelMessages } from './model-messages.ts'
import { readOpenAiChat } from './openai-chat.ts'
import { readOpenAiResponses } from './openai-responses.ts'
import { readUiMessages } from './ui-messages.ts'

/** What may be said of an array of messages that it does not say itself. */
export interface MessageOptions {
  /** The shape, where it is known: texts alone fit several. */
  readonly shape?: MessageShape
  /** `source.provider` of what the model said. By the shape unless given: such as `openai.chat` or `anthropic`. */
  readonly provider?: string
  /** `source.model` of what the model said, where the request does not name it. Default `unknown`. */
  readonly model?: string
  /** Epoch milliseconds. Messages have no times but those of the AI SDK: the first of them, or 0. */
  readonly createdAt?: number
}

export interface ImportMessagesOptions extends ImportOptions, MessageOptions {}

export interface ImportMessageArrayOptions extends MessageOptions {
  /** Where images and documents go. */
  readonly attachments: AttachmentSink
  /** Default `messages`. */
  readonly sessionId?: string
  /** What `importedFrom.source` and the report name. Default: the session's id. */
  readonly source?: string
}

const readers: Readonly<Record<MessageShape, ShapeReader>> = {
  'openai-chat': readOpenAiChat,
  'openai-responses': readOpenAiResponses,
  anthropic: readAnthropic,
  'ui-messages': readUiMessages,
  'model-messages': readModelMessages,
}

/**
 * Imports a file of messages: a JSON array, a request that holds one, one message on each line, or one request on each
 * line, which is a session of its own, `<name>.<line>`. The session's id is the file's name without its ending. Elements
 * never stop it: what is no message is kept raw. Throws `TranscriptError` `source/too-large` above 256 MB, and what the
 * source or the sink throw. SPEC 8, FORMATS 8.
 */
export async function* importMessages(
  source: TranscriptSource,
  options: ImportMessagesOptions,
): AsyncGenerator<ImportedSession> {
  const name = sourceName(source)
  const stem = basename(name, extname(name)) || 'messages'
  for (const body of await readBodies(await readWhole(source))) {
    const sessionId = body.nth === undefined ? stem : `${stem}.${body.nth}`
    yield await writeBody(body, {
      ...options,
      sessionId,
      source: name,
      attachments: options.attachments(sessionId as SessionId),
    })
  }
}

/**
 * Imports messages that are in memory: an array of any shape, or a request that holds one. Bytes in it become base64,
 * `URL`s and dates their text. What JSON cannot hold is kept raw as far as it has a text. Throws what the sink throws.
 */
export async function importMessageArray(
  messages: unknown,
  options: ImportMessageArrayOptions,
): Promise<ImportedSession> {
  const { value, text } = foreignJson(messages)
  const sessionId = options.sessionId ?? 'messages'
  return writeBody(bodyOf(value, text, 0), { ...options, sessionId, source: options.source ?? sessionId })
}

interface BodyOptions extends MessageOptions {
  readonly attachments: AttachmentSink
  readonly sessionId: string
  readonly source: string
}

async function writeBody(body: MessageBody, options: BodyOptions): Promise<ImportedSession> {
  const shape = options.shape ?? body.shape
  const model = stringMember(body.request, 'model') ?? options.model ?? 'unknown'
  const elements = body.elements.flatMap((read) =>
    read.kind === 'object' ? [{ line: read.kept.line, value: read.value }] : [],
  )
  const provider =
    options.provider ??
    providerOf(
      shape,
      model,
      elements.map(({ value }) => value),
    )
  const keep = (inline: InlineData): ReturnType<typeof keepInline> => keepInline(options.attachments, inline)
  const list = await readers[shape](elements, { provider, model: model === '' ? 'unknown' : model, keep })
  const { config, leftOut } = settingsOf(body.request)
  return writeConversation(
    {
      agent: shape,
      source: options.source,
      sessionId: options.sessionId,
      ...(options.createdAt === undefined ? {} : { createdAt: options.createdAt }),
    },
    {
      drafts: [...promptOf(body.request), ...settingDraft(config), ...foreignDrafts(body.elements), ...list.drafts],
      lines: body.elements.flatMap((read): KeptLine[] => (read.kind === 'blank' ? [] : [read.kept])),
      blank: body.elements.filter(({ kind }) => kind === 'blank').length,
      warnings: requestWarnings(leftOut),
      leftOut: list.leftOut,
    },
  )
}

/** The system prompt that stands beside the messages. */
function promptOf(request: LooseObject): Draft[] {
  const content = anthropicSystem(request['system'] ?? request['instructions'])
  return content.length === 0 ? [] : [{ kind: 'system', origin: { lines: [], id: 'system' }, content, place: 'head' }]
}

function settingDraft(config: Partial<RequestConfig>): Draft[] {
  return Object.keys(config).length === 0 ? [] : [{ kind: 'setting', config }]
}

function foreignDrafts(elements: readonly ReadLine[]): Draft[] {
  return elements.flatMap((read): Draft[] =>
    read.kind === 'foreign' ? [{ kind: 'raw', line: read.kept.line, reason: read.reason }] : [],
  )
}

function requestWarnings(leftOut: readonly string[]): ImportWarning[] {
  if (leftOut.length === 0) return []
  const message = `members of the request that a session has no place for: ${leftOut.join(', ')}`
  return [{ line: 0, code: 'request/left-out', message }]
}

/** Who made what the assistant says, by the names of the published packages. */
function providerOf(shape: MessageShape, model: string, values: readonly LooseObject[]): string {
  if (shape === 'anthropic') return 'anthropic'
  if (shape === 'openai-responses') return 'openai.responses'
  if (shape !== 'openai-chat') return 'unknown'
  const isDeepSeek =
    /(?:^|\/)deepseek/i.test(model) || values.some((value) => typeof value['reasoning_content'] === 'string')
  return isDeepSeek ? 'deepseek' : 'openai.chat'
}
