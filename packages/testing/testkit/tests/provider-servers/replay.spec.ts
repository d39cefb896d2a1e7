import type { LanguageModelV4CallOptions, LanguageModelV4Prompt } from '@ai-sdk/provider'
import {
  startProviderServer,
  type ProviderKind,
  type ProviderServerOptions,
  type ServedBlock,
} from '@palimpsest/testkit'
import { describe, expect, it } from 'vitest'
import { assistantOf, hello, partsOf, publishedModel, resultsFor, tools } from './published.ts'

const kinds = ['anthropic', 'openai-chat', 'openai-responses', 'deepseek', 'compatible'] as const
const system = (content: string): LanguageModelV4Prompt[number] => ({ role: 'system', content })
const user = (text: string): LanguageModelV4Prompt[number] => ({ role: 'user', content: [{ type: 'text', text }] })

const options: Partial<Record<ProviderKind, Partial<LanguageModelV4CallOptions>>> = {
  anthropic: { providerOptions: { anthropic: { thinking: { type: 'adaptive' } } } },
  'openai-responses': { providerOptions: { openai: { store: false, include: ['reasoning.encrypted_content'] } } },
}
/** Two steps with calls and one without, again and again. */
function script(_: unknown, n: number): { blocks: ServedBlock[] } {
  const thinking: ServedBlock[] = [{ type: 'thinking', text: [`thought ${n}`, 'and on'] }]
  const calls: ServedBlock[] = [
    { type: 'tool-call', name: 'read', input: { path: `${n}`, nested: { b: 1, a: [] } } },
    { type: 'tool-call', name: 'read', input: {} },
  ]
  const redacted: ServedBlock[] = n % 2 === 0 ? [{ type: 'thinking', text: '', redacted: true }] : []
  return { blocks: [...thinking, ...redacted, { type: 'text', text: `step ${n}` }, ...(n % 3 < 2 ? calls : [])] }
}

async function converse(kind: ProviderKind, settings: Partial<ProviderServerOptions> = {}) {
  const server = await startProviderServer({ kind, script, strict: true, ...settings })
  const prompt: LanguageModelV4Prompt = [system('be brief'), ...hello]
  const model = publishedModel(kind, server)
  const ask = async (messages: LanguageModelV4Prompt) => {
    const { stream } = await model.doStream({ prompt: messages, tools, ...options[kind] })
    const { parts, thrown } = await partsOf(stream)
    expect(thrown).toBeUndefined()
    return assistantOf(parts)
  }
  for (let step = 0; step < 6; step += 1) {
    const message = await ask(prompt)
    const results = resultsFor(message)
    prompt.push(message, results.content.length > 0 ? results : user(`next ${step}`))
  }
  return { server, prompt, ask }
}

describe.each(kinds)('the %s server', (kind) => {
  it('refuses nothing of a conversation whose blocks come back as they were', async () => {
    const { server, prompt } = await converse(kind)
    expect(server.refusals).toEqual([])
    expect(server.dropped).toEqual([])
    expect(prompt).toHaveLength(14)
    expect(server.requests.map(({ outcome }) => outcome)).toEqual(Array.from({ length: 6 }, () => 'answered'))
    await server.close()
  })
})

const thinkingSent = (body: unknown): number => JSON.stringify(body).split('"signature"').length - 1

describe('signed thinking', () => {
  it('is refused behind another system prompt, and taken when it is left out', async () => {
    const { server, prompt, ask } = await converse('anthropic')
    const changed = [system('be long'), ...prompt.slice(1)]
    await expect(ask(changed)).rejects.toThrow('The block is bound to a different conversation.')
    expect(thinkingSent(server.requests.at(-1)?.body)).toBe(6)
    expect(server.refusals).toMatchObject([{ rule: 'A25', status: 400, request: 6 }])
    await ask(
      changed.map((message) =>
        message.role === 'assistant'
          ? { ...message, content: message.content.filter(({ type }) => type !== 'reasoning') }
          : message,
      ),
    )
    expect(server.refusals).toHaveLength(1)
    await server.close()
  })

  it('is ignored behind another system prompt by a server that drops, and what it signs then holds', async () => {
    const { server, prompt, ask } = await converse('anthropic', { prefixMismatch: 'drop' })
    const changed = [system('be long'), ...prompt.slice(1)]
    const answer = await ask(changed)
    expect(server.dropped.map(({ request, rule }) => [request, rule])).toEqual(
      Array.from({ length: 9 }, () => [6, 'A25']),
    )
    await ask([...changed, answer, resultsFor(answer)])
    expect(server.refusals).toEqual([])
    expect(server.dropped).toHaveLength(18)
    await server.close()
  })

  it('of a whole turn may be stripped from some block on', async () => {
    const { server, prompt, ask } = await converse('anthropic')
    const firstKept = prompt.findIndex(({ role }) => role === 'assistant')
    await ask(
      prompt.map((message, index) =>
        message.role === 'assistant' && index > firstKept
          ? { ...message, content: message.content.filter(({ type }) => type !== 'reasoning') }
          : message,
      ),
    )
    expect(server.refusals).toEqual([])
    await server.close()
  })

  it('is known to another server of the same organisation, and foreign to one of another', async () => {
    const { server, prompt } = await converse('anthropic')
    await server.close()
    for (const [organisation, rules] of [
      ['loopback', []],
      ['elsewhere', ['A23.verbatim']],
    ] as const) {
      const next = await startProviderServer({ kind: 'anthropic', script, organisation })
      const asked = publishedModel('anthropic', next).doStream({ prompt, tools, ...options.anthropic })
      if (rules.length === 0) await asked
      else await expect(asked).rejects.toThrow('Invalid `signature` in `thinking` block')
      expect(next.refusals.map(({ rule }) => rule)).toEqual(rules)
      await next.close()
    }
  })
})
