import { describe, expect, it } from 'vitest'
import { Session } from '@palimpsest/session'
import type { AssistantMessage, AttachmentRef, RequestHeader, UserMessage } from '@palimpsest/session'
import { languageModelAdapter } from '../src/index.ts'
import type { LanguageModelRequest } from '../src/index.ts'
import { call, image, result, text, thinking, user } from './fixtures/messages.ts'

const append = { surfaceOp: 'append' } as const
const config = { provider: 'anthropic.messages', model: 'claude-sonnet-4-5' }
const place = { turn: 1, step: 1 }

/** What a loop gives when its next request leaves. */
function request(session: Session, header: RequestHeader): LanguageModelRequest {
  return { session, header, messages: session.deriveMessages() }
}

/** A session in the middle of a tool turn whose reasoning is signed. */
function open(header: RequestHeader): Session {
  const session = Session.create()
  session.append('request/header', { header, reason: 'initial' })
  session.append('user/message', user() as UserMessage, append)
  const message = thinking([call('a', '{}', 'a.b')]) as AssistantMessage
  session.append('assistant/message', { ...place, message, stream: [] }, append)
  const [asked] = message.content.filter((block) => block.type === 'tool-call')
  const { seq } = session.append('tool/call', { ...place, callId: asked?.id as never, name: 'a.b', arguments: '{}' })
  session.append('tool/result', { ...place, message: result('a') as never }, { ...append, sourceEventSeqs: [seq] })
  return session
}

describe('the adapter reads a request', () => {
  const header = {
    config: { ...config, reasoningEffort: 'high' },
    tools: [{ type: 'function', name: 'c.d' }, { name: 1 }],
  }

  it('for the model, the tools and the thinking of its header', async () => {
    const session = open(header)
    const { prompt, toolNames, providerOptions } = await languageModelAdapter().toPrompt(request(session, header))
    expect(JSON.stringify(prompt)).toContain('"signature":"sig"')
    expect([...toolNames.keys()]).toEqual(['c.d', 'a.b'])
    expect(providerOptions).toBeUndefined()
  })

  it('with the intact prefix of its log: a changed header drops the signatures, and thinking goes off', async () => {
    const session = open(header)
    const changed = { config: { ...header.config, temperature: 1 } }
    session.append('request/header', { header: changed, reason: 'change' })
    const { prompt, providerOptions } = await languageModelAdapter().toPrompt(request(session, changed))
    expect(JSON.stringify(prompt)).not.toContain('"signature"')
    expect(providerOptions).toEqual({ anthropic: { thinking: { type: 'disabled' } } })
  })

  it('with the instructions of its header, where a log without a head keeps the system prompt', async () => {
    const instructed = { config: { ...config, instructions: 'Be brief.\u{d800}' } }
    const session = open(instructed)
    const { prompt } = await languageModelAdapter().toPrompt(request(session, instructed))
    expect(prompt.slice(0, 2)).toMatchObject([{ role: 'system', content: 'Be brief.\u{fffd}' }, { role: 'user' }])
    const headed = Session.create()
    const source = { kind: 'plugin', plugin: 'test' } as const
    const message = {
      id: 's' as never,
      role: 'system',
      content: [{ type: 'text', text: 'In verse.' }],
      source,
    } as const
    headed.append('system/message', { ...place, message }, append)
    const both = await languageModelAdapter().toPrompt(request(headed, instructed))
    expect(both.prompt[0]).toMatchObject({ role: 'system', content: 'Be brief.\u{fffd}\n\nIn verse.' })
  })

  it('with the provider options of its header', async () => {
    const stored = {
      config: { provider: 'openai.responses', model: 'gpt-5', providerOptions: { openai: { store: true } } },
    }
    const session = open(stored)
    expect((await languageModelAdapter().toPrompt(request(session, stored))).providerOptions).toBeUndefined()
    const odd = { config: { provider: 'openai.responses', model: 'gpt-5', providerOptions: 1 } }
    expect((await languageModelAdapter().toPrompt(request(session, odd))).providerOptions).toEqual({
      openai: { store: false },
    })
  })
})

describe('the adapter reads images', () => {
  const ref = (digit: string): string => `sha256:${digit.repeat(64)}`
  const list = [
    user([text('see'), image({ attachmentId: ref('1') }), image({ attachmentId: ref('1') })]),
    user([image({ attachmentId: ref('2') }), image({ attachmentId: ref('3') })]),
  ]
  const session = Session.create()
  const asked: string[] = []
  const attachments = {
    get: ({ attachmentId }: AttachmentRef): Promise<Uint8Array | undefined> => {
      asked.push(attachmentId)
      return Promise.resolve(attachmentId === ref('1') ? new Uint8Array([1, 2, 3]) : undefined)
    },
  }
  const given = { session, header: { config }, messages: list }

  it('once each, those at hand first, and a missing one is a placeholder', async () => {
    asked.length = 0
    const lookup = ({ attachmentId }: AttachmentRef): string | undefined =>
      attachmentId === ref('2') ? 'AAAA' : undefined
    const { prompt } = await languageModelAdapter({ attachments, image: lookup }).toPrompt(given)
    expect(asked).toEqual([ref('1'), ref('3')])
    const parts = prompt.flatMap((message) => (message.role === 'user' ? message.content : []))
    expect(parts.map((part) => (part.type === 'text' ? part.text : (part.data as { data: string }).data))).toEqual([
      'see',
      'AQID',
      'AQID',
      'AAAA',
      '[image not available]',
    ])
  })

  it('in the form of the version that the request names, and of V4 where it names none', async () => {
    const adapter = languageModelAdapter({ image: () => 'AAEC' })
    const filesOf = async (version: Pick<LanguageModelRequest, 'specificationVersion'>): Promise<unknown[]> => {
      const { prompt } = await adapter.toPrompt({ ...given, ...version })
      const parts = prompt.flatMap<object>(({ content }) => (typeof content === 'string' ? [] : content))
      return parts.flatMap((part) => ('data' in part ? [part.data] : []))
    }
    const four = Array.from({ length: 4 }, () => ({ type: 'data', data: 'AAEC' }))
    expect(await filesOf({})).toEqual(four)
    expect(await filesOf({ specificationVersion: 'v4' })).toEqual(four)
    expect(await filesOf({ specificationVersion: 'v3' })).toEqual(four.map(({ data }) => data))
  })

  it('not at all without a store', async () => {
    const { prompt } = await languageModelAdapter().toPrompt(given)
    expect(JSON.stringify(prompt)).not.toContain('"file"')
  })

  it('within the budget that it was given', async () => {
    const refused = languageModelAdapter({ attachments, limits: { images: 1 } }).toPrompt(given)
    await expect(refused).rejects.toMatchObject({ code: 'budget/images' })
  })
})
