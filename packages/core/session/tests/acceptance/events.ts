import { Session } from '@palimpsest/session'
import { assistantData, resultData, systemData, text, toolCall, userData } from '@palimpsest/testkit'
import { add, appended, at, call, say, stored } from '../sessions.ts'
import { next, type Case } from './case.ts'

const restoring = (seq: number, change: (event: Record<string, unknown>) => void) => (session: Session) => {
  const { header, events, inheritedEventCount } = stored(session)
  change(events[seq] as unknown as Record<string, unknown>)
  return Session.restore({ header, events, inheritedEventCount })
}
const header = (members: object) => (session: Session) =>
  add(session, 'request/header', {
    header: { config: { provider: 'acme', model: 'acme-1' }, ...members },
    reason: 'initial',
  })
const user =
  (...content: unknown[]) =>
  (session: Session) =>
    add(session, 'user/message', userData('u', content as never), appended)
const image = {
  type: 'image',
  attachment: { attachmentId: `sha256:${'0'.repeat(64)}`, mediaType: 'image/png', bytes: 1 },
}
const result = (change: (data: ReturnType<typeof resultData>) => unknown) => (session: Session) => {
  call(session, 'c')
  return add(
    session,
    'tool/result',
    change(resultData('r', 'c', [text('three')], { turn: 1, step: 1 }, true)),
    appended,
  )
}

/** What an event is, whatever the surface: envelope, vocabulary and payload. */
export const eventCases: readonly Case[] = [
  {
    code: 'envelope/keys',
    rule: 'an intent has no other members, but an undefined one counts as absent',
    refused: (session) => say(session, 'x', { ...appended, why: 1 }),
    accepted: (session) => say(session, 'x', { ...appended, sourceEventSeqs: undefined, why: undefined }),
  },
  {
    code: 'envelope/keys',
    rule: 'an intent is an object',
    refused: (session) => say(session, 'x', 'append'),
    accepted: (session) => say(session, 'x'),
  },
  {
    code: 'envelope/keys',
    rule: 'a mark of ignorable is true or absent',
    refused: (session) => add(session, 'turn/start', { turn: 2 }, { ignorable: false }),
    accepted: (session) => add(session, 'turn/start', { turn: 2 }, { ignorable: true }),
  },
  {
    code: 'envelope/keys',
    rule: 'a type is a non-empty string',
    refused: (session) => add(session, '', { turn: 2 }, { ignorable: true }),
    accepted: (session) => add(session, ' ', { turn: 2 }, { ignorable: true }),
  },
  {
    code: 'envelope/keys',
    rule: 'a type is a string',
    refused: (session) => add(session, 5 as never, { turn: 2 }),
    accepted: (session) => add(session, '5', { turn: 2 }, { ignorable: true }),
  },
  {
    code: 'envelope/keys',
    rule: 'a stored event has no other members',
    seq: at.user,
    refused: restoring(at.user, (event) => (event['id'] = 'x')),
    accepted: restoring(at.user, (event) => (event['data'] = { ...(event['data'] as object), extra: 'x' })),
  },
  {
    code: 'envelope/keys',
    rule: 'a stored event has data',
    seq: at.turn,
    refused: restoring(at.turn, (event) => delete event['data']),
    accepted: restoring(at.turn, (event) => (event['data'] = { turn: 7 })),
  },
  {
    code: 'envelope/keys',
    rule: 'a stored mark of ignorable is true or absent',
    seq: at.turn,
    refused: restoring(at.turn, (event) => (event['ignorable'] = false)),
    accepted: restoring(at.turn, (event) => (event['ignorable'] = true)),
  },
  {
    code: 'envelope/seq',
    rule: 'seqs are contiguous',
    seq: at.user,
    refused: restoring(at.user, (event) => (event['seq'] = at.user + 1)),
    accepted: restoring(at.user, (event) => (event['seq'] = at.user)),
  },
  {
    code: 'envelope/seq',
    rule: 'a seq is never -0',
    seq: at.head,
    refused: restoring(at.head, (event) => (event['seq'] = -0)),
    accepted: restoring(at.head, (event) => (event['seq'] = 0)),
  },
  {
    code: 'envelope/time',
    rule: 'a time is an integer number of milliseconds',
    seq: at.user,
    refused: restoring(at.user, (event) => (event['time'] = 1.5)),
    accepted: restoring(at.user, (event) => (event['time'] = -1)),
  },
  {
    code: 'envelope/time',
    rule: 'a time is a safe integer',
    seq: at.user,
    refused: restoring(at.user, (event) => (event['time'] = Number.MAX_SAFE_INTEGER + 1)),
    accepted: restoring(at.user, (event) => (event['time'] = Number.MAX_SAFE_INTEGER)),
  },
  {
    code: 'envelope/time',
    rule: 'a time is never -0',
    seq: at.user,
    refused: restoring(at.user, (event) => (event['time'] = -0)),
    accepted: restoring(at.user, (event) => (event['time'] = 0)),
  },
  {
    code: 'envelope/json',
    rule: 'data is lossless JSON; json.spec.ts has every clause',
    refused: user({ type: 'text', text: 'x', extra: undefined }),
    accepted: user({ type: 'text', text: 'x', extra: null }),
  },
  {
    code: 'envelope/json',
    rule: 'data is an object, also of an event that nobody knows',
    refused: (session) => add(session, 'acme/other', [], { ignorable: true }),
    accepted: (session) => add(session, 'acme/other', {}, { ignorable: true }),
  },
  {
    code: 'vocabulary/unknown',
    rule: 'the type is known, or the event is ignorable',
    refused: (session) => add(session, 'acme/other', { text: 'x' }),
    accepted: (session) => add(session, 'acme/other', { text: 'x' }, { ignorable: true }),
  },
  {
    code: 'vocabulary/unknown',
    rule: 'a retired type is unknown',
    refused: (session) => add(session, 'acme/old', {}),
    accepted: (session) => add(session, 'acme/old', {}, { ignorable: true }),
  },
  {
    code: 'payload/invalid',
    rule: 'the payload matches its schema',
    refused: (session) => add(session, 'acme/note', { text: 1 }),
    accepted: (session) => add(session, 'acme/note', { text: '1', more: 1 }),
  },
  {
    code: 'payload/invalid',
    rule: 'a message id is not empty',
    refused: (session) => add(session, 'user/message', userData('', []), appended),
    accepted: (session) => add(session, 'user/message', userData(' ', []), appended),
  },
  {
    code: 'payload/invalid',
    rule: 'the role fits the type',
    refused: (session) => add(session, 'user/message', { ...userData('u', []), role: 'assistant' }, appended),
    accepted: (session) => add(session, 'user/message', { ...userData('u', []), role: 'user' }, appended),
  },
  {
    code: 'payload/invalid',
    rule: 'a user message comes from any source but a model or a tool',
    refused: (session) => add(session, 'user/message', { ...userData('u', []), source: { kind: 'model' } }, appended),
    accepted: (session) =>
      add(session, 'user/message', { ...userData('u', []), source: { kind: 'acme/web' } }, appended),
  },
  {
    code: 'payload/invalid',
    rule: 'a turn is a positive integer',
    refused: (session) => add(session, 'turn/start', { turn: 0 }),
    accepted: (session) => add(session, 'turn/start', { turn: 1 }),
  },
  {
    code: 'payload/invalid',
    rule: 'the block and the source of a result name one call',
    seq: next + 1,
    refused: result((data) => ({ ...data, message: { ...data.message, source: { kind: 'tool', callId: 'd' } } })),
    accepted: result((data) => data),
  },
  {
    code: 'payload/content',
    rule: 'only an assistant calls tools, at any depth',
    refused: user({ type: 'acme/box', content: [{ type: 'acme/box', content: [toolCall('c')] }] }),
    accepted: user({ type: 'acme/box', content: [{ type: 'acme/box', content: [text('c')] }] }),
  },
  {
    code: 'payload/content',
    rule: 'a member of content without a type hides nothing',
    refused: user({ type: 'acme/box', content: [{ content: [toolCall('c')] }] }),
    accepted: user({ type: 'acme/box', content: [{ content: [text('c')] }] }),
  },
  {
    code: 'payload/content',
    rule: 'only a result answers calls, at any depth',
    refused: (session) =>
      add(
        session,
        'assistant/message',
        assistantData('a', [
          { ...text('x'), content: [{ type: 'tool-result', toolCallId: 'c', content: [] }] } as never,
        ]),
        appended,
      ),
    accepted: (session) =>
      add(
        session,
        'assistant/message',
        assistantData('a', [{ ...text('x'), content: [text('c')] } as never]),
        appended,
      ),
  },
  {
    code: 'payload/content',
    rule: 'a call is no part of another block of the assistant',
    refused: (session) =>
      add(
        session,
        'assistant/message',
        assistantData('a', [{ ...text('x'), content: [toolCall('c')] } as never]),
        appended,
      ),
    accepted: (session) => add(session, 'assistant/message', assistantData('a', [text('x'), toolCall('c')]), appended),
  },
  {
    code: 'payload/content',
    rule: 'reasoning is the assistant’s own',
    refused: user({ type: 'reasoning', text: 'hm' }),
    accepted: user(text('hm')),
  },
  {
    code: 'payload/content',
    rule: 'a block type that nobody declared stands only in user messages',
    seq: next + 1,
    refused: result((data) => {
      const [block] = data.message.content
      return { ...data, message: { ...data.message, content: [{ ...block, content: [{ type: 'acme/box' }] }] } }
    }),
    accepted: user({ type: 'acme/box' }),
  },
  {
    code: 'payload/content',
    rule: 'a system message is text',
    refused: (session) => add(session, 'system/message', systemData('s', [image as never]), appended),
    accepted: (session) => add(session, 'system/message', systemData('s', [text('rule')]), appended),
  },
  {
    code: 'payload/tool-error',
    rule: 'a result with an error says isError: true',
    seq: next + 1,
    refused: result((data) => {
      const content = [{ ...data.message.content[0], isError: false }]
      return { ...data, message: { ...data.message, content }, error: { name: 'Error', code: 'E' } }
    }),
    accepted: result((data) => ({ ...data, error: { name: 'Error', code: 'E' } })),
  },
  {
    code: 'payload/header',
    rule: 'a header has no system prompt',
    refused: header({ system: 'x' }),
    accepted: header({}),
  },
  {
    code: 'payload/header',
    rule: 'a header has no empty tools',
    refused: header({ tools: [] }),
    accepted: header({ tools: [{ name: 'read' }] }),
  },
  {
    code: 'payload/header',
    rule: 'a header has no empty defaults',
    refused: header({ adapterDefaults: {} }),
    accepted: header({ adapterDefaults: { seed: 1 } }),
  },
]
