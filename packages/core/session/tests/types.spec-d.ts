import { messageId, Session, sessionSeq } from '@palimpsest/session'
import type {
  AssistantMessage,
  ContentBlock,
  EventOf,
  Message,
  ResultContentBlock,
  SessionEvent,
  SessionEventMap,
  SessionEventType,
  SessionSeq,
  SessionSurface,
  SurfaceEventType,
  SurfaceManager,
  SurfaceOp,
  UserBlock,
} from '@palimpsest/session'
import { describe, expectTypeOf, it } from 'vitest'

const session = Session.create()
const append = { surfaceOp: 'append' } as const
declare const user: SessionEventMap['user/message']
declare const assistant: SessionEventMap['assistant/message']
declare const event: SessionEvent

describe('the types of a session', () => {
  it('SessionSurface exposes nodes and replaceGeneration and nothing else', () => {
    expectTypeOf<keyof SessionSurface>().toEqualTypeOf<'nodes' | 'replaceGeneration'>()
    expectTypeOf(session.surface).toEqualTypeOf<SessionSurface>()
    expectTypeOf<SessionSurface>().not.toHaveProperty('validateNext')
    expectTypeOf<SurfaceManager>().toHaveProperty('validateNext')
    expectTypeOf<SessionSurface['nodes']>().toEqualTypeOf<readonly SessionSeq[]>()
    // @ts-expect-error -- nodes is a readonly view
    session.surface.nodes.push(sessionSeq(0))
  })

  it('append asks for an intent where the type stands on the surface, and only there', () => {
    expectTypeOf(session.append('user/message', user, append)).toEqualTypeOf<EventOf<'user/message'>>()
    expectTypeOf(session.append('turn/start', { turn: 1 })).toEqualTypeOf<EventOf<'turn/start'>>()
    session.append('turn/start', { turn: 1 }, { ignorable: true })
    const sourceEventSeqs = [sessionSeq(0)]
    const surfaceOp = { op: 'replace', startSeq: sessionSeq(0), endSeq: sessionSeq(0) } as const
    session.append('user/message', user, { surfaceOp, sourceEventSeqs })
    // @ts-expect-error -- never an implicit append
    session.append('user/message', user)
    // @ts-expect-error -- a log-only event has no place on the surface
    session.append('turn/start', { turn: 1 }, append)
    // @ts-expect-error -- an assistant message cites nothing
    session.append('assistant/message', assistant, { surfaceOp: 'append', sourceEventSeqs })
    // @ts-expect-error -- an assistant message replaces nothing
    session.append('assistant/message', assistant, { surfaceOp })
    // @ts-expect-error -- the aliases of older formats are gone
    session.append('user/message', user, { surfaceOp: { op: 'replace', start: 0, end: 0 } })
    // @ts-expect-error -- a plain number is no seq
    session.append('user/message', user, { surfaceOp: { op: 'replace', startSeq: 0, endSeq: 0 } })
    // @ts-expect-error -- the payload fits the type
    session.append('turn/start', { step: 1 })
  })

  it('a result holds text and images, and nothing else type-checks', () => {
    type Held = SessionEventMap['tool/result']['message']['content'][0]['content'][number]
    expectTypeOf<Held>().toEqualTypeOf<ResultContentBlock>()
    expectTypeOf<Held['type']>().toEqualTypeOf<'text' | 'image'>()
    expectTypeOf<SessionEventMap['tool/progress']['content'][number]>().toEqualTypeOf<ResultContentBlock>()
  })

  it('append takes a widened union, which is judged at run time, and unknown types that readers may skip', () => {
    const widened = 'user/message' as SessionEventType
    session.append(widened, user as SessionEventMap[SessionEventType], append)
    session.append('acme/note', { text: 'x' }, { ignorable: true })
    // @ts-expect-error -- a type nobody declared is not accepted without the mark
    session.append('acme/note', { text: 'x' })
  })

  it('switch narrows the payload without a cast', () => {
    switch (event.type) {
      case 'user/message':
        expectTypeOf(event.data.role).toEqualTypeOf<'user'>()
        expectTypeOf(event.surfaceOp).toEqualTypeOf<SurfaceOp>()
        break
      case 'assistant/message':
        expectTypeOf(event.data.message).toEqualTypeOf<AssistantMessage>()
        expectTypeOf(event.surfaceOp).toEqualTypeOf<'append'>()
        break
      case 'turn/end':
        if (event.data.reason.kind === 'aborted') expectTypeOf(event.data.reason).toHaveProperty('cause')
        break
      case 'tool/call':
        expectTypeOf(event.data.arguments).toEqualTypeOf<string>()
        break
      default:
        expectTypeOf(event.type).not.toEqualTypeOf<string>()
    }
  })

  it('forbidden metadata is never', () => {
    expectTypeOf<EventOf<'turn/start'>['surfaceOp']>().toEqualTypeOf<undefined>()
    expectTypeOf<EventOf<'turn/start'>['sourceEventSeqs']>().toEqualTypeOf<undefined>()
    expectTypeOf<EventOf<'assistant/message'>['sourceEventSeqs']>().toEqualTypeOf<undefined>()
    expectTypeOf<EventOf<'tool/result'>['sourceEventSeqs']>().toEqualTypeOf<readonly SessionSeq[] | undefined>()
    expectTypeOf<EventOf<SurfaceEventType>>().toHaveProperty('surfaceOp').toEqualTypeOf<SurfaceOp>()
  })

  it('brands keep ids and numbers apart', () => {
    expectTypeOf<number>().not.toExtend<SessionSeq>()
    expectTypeOf(messageId('m')).not.toExtend<ReturnType<typeof sessionSeq>>()
    expectTypeOf<Message['content']>().toEqualTypeOf<readonly ContentBlock[]>()
    expectTypeOf<Extract<UserBlock, { type: 'tool-call' | 'tool-result' | 'reasoning' }>>().toBeNever()
  })

  it('events and what they hold are readonly', () => {
    // @ts-expect-error -- an accepted event never changes
    event.seq = sessionSeq(1)
    // @ts-expect-error -- nor does the snapshot of the log
    session.events.pop()
    // @ts-expect-error -- nor a derived list
    session.deriveMessages().pop()
  })
})
