import type { LanguageModelV3, LanguageModelV3CallOptions } from '@ai-sdk/provider'
import { languageModelAdapter } from '@palimpsest/provider-messages'
import { type AttachmentRef, Session } from '@palimpsest/session'
import { ScriptedModel } from '@palimpsest/testkit'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { AgentLoop, type ModelAdapter, type PromptRequest, defineTool } from '../src/index.ts'
import { rig } from './harness.ts'

// The prompt of the V3 interface, member by member, and nothing else.
const options = { providerOptions: z.record(z.string(), z.record(z.string(), z.json())).optional() }
const fullType = z.string().regex(/^[\w.+-]+\/(?:[\w.+-]+|\*)$/)
const text = z.strictObject({ type: z.literal('text'), text: z.string(), ...options })
const reasoning = z.strictObject({ type: z.literal('reasoning'), text: z.string(), ...options })
const file = z.strictObject({
  type: z.literal('file'),
  filename: z.string().optional(),
  data: z.union([z.base64(), z.instanceof(Uint8Array), z.instanceof(URL)]),
  mediaType: fullType,
  ...options,
})
const bytes = { data: z.base64(), mediaType: fullType, ...options }
const item = z.discriminatedUnion('type', [
  text,
  z.strictObject({ type: z.literal('file-data'), filename: z.string().optional(), ...bytes }),
  z.strictObject({ type: z.literal('image-data'), ...bytes }),
  z.strictObject({ type: z.enum(['file-url', 'image-url']), url: z.url(), ...options }),
  z.strictObject({ type: z.literal('custom'), ...options }),
])
const output = z.discriminatedUnion('type', [
  z.strictObject({ type: z.enum(['text', 'error-text']), value: z.string(), ...options }),
  z.strictObject({ type: z.enum(['json', 'error-json']), value: z.json(), ...options }),
  z.strictObject({ type: z.literal('execution-denied'), reason: z.string().optional(), ...options }),
  z.strictObject({ type: z.literal('content'), value: z.array(item).min(1) }),
])
const names = { toolCallId: z.string().min(1), toolName: z.string().min(1), ...options }
const result = z.strictObject({ type: z.literal('tool-result'), output, ...names })
const call = z.strictObject({ type: z.literal('tool-call'), input: z.unknown(), ...names })
const message = z.discriminatedUnion('role', [
  z.strictObject({ role: z.literal('system'), content: z.string(), ...options }),
  z.strictObject({ role: z.literal('user'), content: z.array(z.union([text, file])).min(1), ...options }),
  z.strictObject({
    role: z.literal('assistant'),
    content: z.array(z.union([text, file, reasoning, call, result])).min(1),
    ...options,
  }),
  z.strictObject({ role: z.literal('tool'), content: z.array(result).min(1), ...options }),
])
const tool = z.strictObject({
  type: z.literal('function'),
  name: z.string().min(1),
  description: z.string().optional(),
  inputSchema: z.looseObject({ type: z.literal('object') }),
})
const callOptions = z.strictObject({
  prompt: z.array(message).min(1),
  maxOutputTokens: z.number().optional(),
  temperature: z.number().optional(),
  stopSequences: z.array(z.string()).optional(),
  tools: z.array(tool).min(1).optional(),
  toolChoice: z
    .union([
      z.strictObject({ type: z.enum(['auto', 'none', 'required']) }),
      z.strictObject({ type: z.literal('tool'), toolName: z.string() }),
    ])
    .optional(),
  abortSignal: z.instanceof(AbortSignal),
  ...options,
})

interface StrictModel {
  readonly model: LanguageModelV3
  readonly requests: LanguageModelV3CallOptions[]
}

/** A V3 model that refuses what its interface does not name. */
function strict(script: ConstructorParameters<typeof ScriptedModel>[0], provider = 'scripted.chat'): StrictModel {
  const inner = new ScriptedModel(script, { provider }).v3()
  const requests: LanguageModelV3CallOptions[] = []
  const model: LanguageModelV3 = {
    ...inner,
    doStream: async (given) => {
      callOptions.parse(given)
      requests.push(given)
      return inner.doStream(given)
    },
  }
  return { model, requests }
}

const attachment: AttachmentRef = { attachmentId: `sha256:${'0'.repeat(64)}`, mediaType: 'image/png', bytes: 3 }
const shot = defineTool({
  name: 'shot',
  description: 'Takes a picture.',
  inputSchema: z.object({}),
  execute: () => ({
    content: [
      { type: 'text', text: 'See:' },
      { type: 'image', attachment },
    ],
  }),
})

describe('a model of the V3 interface', () => {
  it.each(['anthropic.messages', 'openai.responses', 'scripted.chat'])(
    'gets prompts of %s in its own form: texts, images, reasoning, calls and results',
    async (provider) => {
      const { model, requests } = strict(
        [
          { parts: [{ reasoning: 'Hm.', metadata: { scripted: { signature: 's' } } }, 'So.', { call: 'shot' }] },
          { parts: [{ call: 'nope' }] },
          'Done.',
        ],
        provider,
      )
      const session = Session.create()
      const loop = new AgentLoop({
        session,
        model,
        adapter: languageModelAdapter({ image: () => new Uint8Array([0, 1, 2]) }),
        system: 'Look.',
        tools: [shot],
        settings: {
          temperature: 0,
          maxTokens: 100,
          stop: ['END'],
          reasoningEffort: 'high',
          toolChoice: { tool: 'shot' },
        },
      })
      const { reason } = await loop.send([
        { type: 'text', text: 'What is this?' },
        { type: 'image', attachment },
      ])
      expect(reason).toEqual({ kind: 'completed' })
      expect(requests).toHaveLength(3)
      const sent = JSON.stringify(requests[2]?.prompt)
      expect(sent).toContain('AAEC')
      expect(sent).toContain('There is no tool named')
      expect(requests[0]).not.toHaveProperty('reasoning')
    },
  )

  it('and one of V4 are named to the adapter, which writes the prompt in their version', async () => {
    const inner = languageModelAdapter()
    const versions: PromptRequest['specificationVersion'][] = []
    const adapter: ModelAdapter = {
      toPrompt: (request) => {
        versions.push(request.specificationVersion)
        return inner.toPrompt(request)
      },
    }
    const session = Session.create()
    for (const model of [strict(['One.']).model, new ScriptedModel(['Two.'])]) {
      const loop = new AgentLoop({ session, model, adapter })
      expect((await loop.send('go')).reason).toEqual({ kind: 'completed' })
      await loop.close()
    }
    expect(versions).toEqual(['v3', 'v4'])
  })

  it('answers as one of V4 does', async () => {
    const script = [{ parts: [{ call: 'shot' }] }, 'Done.']
    const four = rig({ tools: [shot], script })
    const three = rig({ tools: [shot], model: strict(script).model })
    await four.send('go')
    await three.send('go')
    expect(three.of('assistant/message').map(({ data }) => data.message.content)).toEqual(
      four.of('assistant/message').map(({ data }) => data.message.content),
    )
  })
})
