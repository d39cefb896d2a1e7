import type {
  AssistantBlock,
  ImageBlock,
  ResultContentBlock,
  Session,
  SessionEvent,
  UserBlock,
} from '@palimpsest/session'
import { Session as Kernel, stringifyEvent, toolCallId } from '@palimpsest/session'
import { assistantData, resultData, systemData, text, toolCall, userData } from '@palimpsest/testkit'
import { toAnthropic, toOpenAiChat, validateAnthropic, validateOpenAiChat } from '@palimpsest/provider-messages'
import fc from 'fast-check'

const given = process.env['PALIMPSEST_SEED']
export const seed: number = given === undefined ? Math.trunc(Math.random() * 2 ** 31) : Number(given)
const appended = { surfaceOp: 'append' } as const
export const MODEL = 'claude-sonnet-4-5'

/** A session with a prompt, whose clock stands still. */
export function fresh(): Session {
  const session = Kernel.create({ id: 'work', createdAt: 1000, now: () => 1000 })
  session.append('system/message', systemData('head', [text('You are terse.')]), appended)
  return session
}

export const say = (session: Session, content: readonly UserBlock[]): SessionEvent =>
  session.append('user/message', userData(`u-${session.length}`, content), appended)

/** An assistant that says something and calls a tool, and the recorded call. */
function call(session: Session, prose: readonly AssistantBlock[] = []): { callId: string; cited: number } {
  const callId = `call_${session.length}`
  session.append('assistant/message', assistantData(`a-${session.length}`, [...prose, toolCall(callId)]), appended)
  const recorded = { turn: 1, step: 1, callId: toolCallId(callId), name: 'read', arguments: '{}' }
  return { callId, cited: session.append('tool/call', recorded).seq }
}

/** A call and its answer. */
export function use(
  session: Session,
  content: readonly ResultContentBlock[],
  options: { readonly isError?: boolean; readonly prose?: readonly AssistantBlock[] } = {},
): SessionEvent {
  const { callId, cited } = call(session, options.prose)
  const data = resultData(`r-${session.length}`, callId, content, { turn: 1, step: 1 }, options.isError)
  const withError = options.isError === true ? { ...data, error: { name: 'Error', code: 'E_TOOL' } } : data
  return session.append('tool/result', withError, { surfaceOp: 'append', sourceEventSeqs: [cited as never] })
}

export const reply = (session: Session, content: readonly AssistantBlock[]): SessionEvent =>
  session.append('assistant/message', assistantData(`a-${session.length}`, content), appended)

export function image(bytes: number, digit = 1, mediaType = 'image/png'): ImageBlock {
  const attachmentId = `sha256:${digit.toString(16).padStart(64, '0')}`
  return { type: 'image', attachment: { attachmentId, mediaType, bytes } }
}

export const bytesOf = (session: Session): string => session.events.map(stringifyEvent).join('\n')

/** Content of the entry that stands where `seq` stands or stood, with the blocks of a result unpacked. */
export function contentAt(session: Session, seq: number): readonly { readonly type: string; readonly text?: string }[] {
  const event = session.eventAt(seq)
  if (event?.type === 'user/message') return event.data.content
  if (event?.type === 'tool/result') return event.data.message.content[0].content
  return []
}

const PIXEL = new Uint8Array([1, 2, 3])

/** What both providers say against the session, with one more user message, so that it is a whole request. */
export function violations(session: Session): unknown[] {
  const next = { ...userData('next', [text('go on')]) }
  const messages = [...session.deriveMessages(), next]
  const { report: _, ...anthropic } = toAnthropic(messages, { model: MODEL, image: () => PIXEL })
  const chat = toOpenAiChat(messages, { image: () => PIXEL })
  return [
    ...validateAnthropic({ model: MODEL, max_tokens: 1000, ...anthropic }, { profile: 'request' }),
    ...validateOpenAiChat({ model: 'gpt-4.1', messages: chat.messages }, { profile: 'request' }),
  ]
}

const anyText = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 400, size: 'max' }),
  fc.nat({ max: 3000 }).map((size) => 'a line of output\r\n'.repeat(size / 18)),
  fc.nat({ max: 400 }).map((size) => '👩‍👩‍👧é'.repeat(size / 4)),
  fc.constantFrom('', ' ', 'ok'),
)
const anyTextBlock = anyText.map(text)
const anyImage = fc.nat({ max: 5000 }).map((bytes) => image(bytes, bytes % 7))
const anyContent = fc.array(fc.oneof({ arbitrary: anyTextBlock, weight: 3 }, { arbitrary: anyImage, weight: 1 }), {
  maxLength: 4,
})

type Move =
  | { readonly kind: 'say'; readonly content: readonly UserBlock[] }
  | { readonly kind: 'use'; readonly content: readonly ResultContentBlock[]; readonly isError: boolean }
  | { readonly kind: 'reply' | 'show' }

export const anyMoves: fc.Arbitrary<readonly Move[]> = fc.array(
  fc.oneof(
    { arbitrary: fc.record({ kind: fc.constant('say' as const), content: anyContent }), weight: 2 },
    {
      arbitrary: fc.record({ kind: fc.constant('use' as const), content: anyContent, isError: fc.boolean() }),
      weight: 5,
    },
    { arbitrary: fc.record({ kind: fc.constantFrom('reply' as const, 'show' as const) }), weight: 1 },
  ),
  { maxLength: 12 },
)

/** The session that the moves make. */
export function play(moves: readonly Move[], session: Session = fresh()): Session {
  for (const move of moves) {
    if (move.kind === 'say') say(session, move.content)
    else if (move.kind === 'use') use(session, move.content, { isError: move.isError })
    else if (move.kind === 'reply') reply(session, [{ type: 'reasoning', text: 'hm' }, text('done')])
    else reply(session, [image(900, 9)])
  }
  return session
}
