import { countTokens, startProviderServer, type ProviderKind } from '@palimpsest/testkit'
import { describe, expect, it } from 'vitest'
import { post, type Body } from './fixtures.ts'
import { hello, publishedModel, tools } from './published.ts'

const kinds = ['anthropic', 'openai-chat', 'openai-responses', 'deepseek', 'compatible'] as const
const bodies: Readonly<Record<ProviderKind, Body>> = {
  anthropic: { model: 'claude-opus-4-8', max_tokens: 100, messages: [{ role: 'user', content: 'hi' }] },
  'openai-chat': { model: 'gpt-4.1', messages: [{ role: 'user', content: 'hi' }] },
  'openai-responses': { model: 'gpt-5.6', input: 'hi' },
  deepseek: { model: 'deepseek-v4-pro', messages: [{ role: 'user', content: 'hi' }] },
  compatible: { model: 'any', messages: [{ role: 'user', content: 'hi' }] },
}
const blocks = [
  { type: 'thinking', text: 'hm' },
  { type: 'text', text: 'Grüße 😀' },
  { type: 'tool-call', id: 'a', name: 'read', input: { path: 'x' } },
] as const
const streaming = (kind: ProviderKind): Body => ({ ...bodies[kind], stream: true })

describe.each(kinds)('a %s server', (kind) => {
  it('answers a request without a stream with the whole object', async () => {
    await using server = await startProviderServer({ kind, script: [{ blocks }] })
    const { content, finishReason } = await publishedModel(kind, server).doGenerate({ prompt: hello, tools })
    expect(content).toContainEqual(expect.objectContaining({ type: 'text', text: 'Grüße 😀' }))
    expect(content).toContainEqual(expect.objectContaining({ type: 'tool-call', toolCallId: 'a', toolName: 'read' }))
    expect(finishReason.unified).toBe('tool-calls')
  })

  it('sends the same bytes for the same seed', async () => {
    const texts = []
    for (const seed of [7, 7, 8]) {
      await using server = await startProviderServer({ kind, seed, script: [{ blocks }] })
      texts.push(await (await post(server, kind, streaming(kind))).text())
    }
    expect(texts[1]).toBe(texts[0])
    expect(texts[2]).not.toBe(texts[0])
  })

  it('keeps silent until the client goes away', async () => {
    await using server = await startProviderServer({
      kind,
      script: [
        { blocks, break: { how: 'hang', after: 2 } },
        { blocks, break: { how: 'hang', after: 0 } },
      ],
    })
    const abort = new AbortController()
    const response = await post(server, kind, streaming(kind), abort.signal)
    const first = await response.body?.getReader().read()
    expect(first?.done).toBe(false)
    abort.abort()
    await server.settled()
    expect(server.requests[0]?.outcome).toBe('disconnected')

    const silent = post(server, kind, streaming(kind)).catch((error: unknown) => error)
    while (server.requests.length < 2) await new Promise(setImmediate)
    await server.close()
    expect(await silent).toBeInstanceOf(Error)
  })

  it('cuts the socket before the headers when nothing may be sent', async () => {
    await using server = await startProviderServer({ kind, script: [{ blocks, break: { how: 'cut', after: 0 } }] })
    await expect(post(server, kind, streaming(kind))).rejects.toThrow()
  })

  it('knows the models that it is told, and no other route', async () => {
    await using server = await startProviderServer({ kind, script: [], models: ['one'] })
    const { status } = await post(server, kind, bodies[kind])
    expect(status).toBe(kind === 'anthropic' || kind === 'openai-chat' || kind === 'compatible' ? 404 : 400)
    expect((await fetch(server.baseURL)).status).toBe(404)
    expect(server.refusals.map(({ rule }) => rule)).toEqual(['model', 'route'])
  })

  it('says so when its script ends or throws', async () => {
    await using short = await startProviderServer({ kind, script: [] })
    expect(await (await post(short, kind, bodies[kind])).text()).toContain('The script has no answer')
    await using broken = await startProviderServer({
      kind,
      script: () => {
        throw new Error('no idea')
      },
    })
    expect(await (await post(broken, kind, bodies[kind])).text()).toContain('no idea')
  })

  it('lets the script see the request and its place among the accepted ones', async () => {
    const seen: unknown[] = []
    await using server = await startProviderServer({
      kind,
      script: ({ body, index }, n) => {
        seen.push([body['model'], index, n])
        return { blocks }
      },
    })
    await post(server, kind, {})
    await (await post(server, kind, bodies[kind])).text()
    expect(seen).toEqual([[bodies[kind]['model'], 1, 0]])
    expect(server.requests.map(({ outcome }) => outcome)).toEqual(['refused', 'answered'])
  })
})

it('counts a quarter of the bytes of the prompt, and nothing else', () => {
  expect(countTokens({ messages: ['é'.repeat(10)], model: 'any' })).toBe(6)
  expect(countTokens({ system: 'x', input: 'y', tools: [] })).toBe(2)
  expect(countTokens(undefined)).toBe(0)
})
