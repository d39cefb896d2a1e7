import { z } from 'zod'
import { type Vocabulary, defineEvents } from './vocabulary.ts'

const count = z.number().int().positive()
const nonNegative = z.number().int().nonnegative()
const nonEmpty = z.string().min(1)
const anyJson = z.unknown()

const text = z.looseObject({ type: z.literal('text'), text: z.string() })
const reasoning = z.looseObject({ type: z.literal('reasoning'), text: z.string() })
const attachment = z.looseObject({
  attachmentId: z.string().regex(/^sha256:[0-9a-f]{64}$/),
  mediaType: nonEmpty,
  bytes: nonNegative,
  width: count.optional(),
  height: count.optional(),
  name: z.string().optional(),
})
const image = z.looseObject({ type: z.literal('image'), attachment })
const toolCall = z.looseObject({ type: z.literal('tool-call'), id: nonEmpty, name: nonEmpty, arguments: z.string() })
const resultContent = z.array(z.discriminatedUnion('type', [text, image]))
const toolResult = z.looseObject({
  type: z.literal('tool-result'),
  toolCallId: nonEmpty,
  content: resultContent,
  isError: z.boolean().optional(),
})
// A block type that nobody declared here: it stands only in user messages and passes through verbatim.
const foreign = z.looseObject({ type: nonEmpty.refine((type) => type !== 'text' && type !== 'image') })

const plugin = z.looseObject({ kind: z.literal('plugin'), plugin: nonEmpty })
const model = z.looseObject({ kind: z.literal('model'), provider: nonEmpty, model: nonEmpty })
const tool = z.looseObject({ kind: z.literal('tool'), callId: nonEmpty })
const person = z.union([
  plugin,
  z.looseObject({ kind: nonEmpty.refine((kind) => kind !== 'plugin' && kind !== 'model' && kind !== 'tool') }),
])

const systemMessage = z.looseObject({ id: nonEmpty, role: z.literal('system'), content: z.array(text), source: plugin })
const userMessage = z.looseObject({
  id: nonEmpty,
  role: z.literal('user'),
  content: z.array(z.union([text, image, foreign])),
  source: person,
})
const assistantMessage = z.looseObject({
  id: nonEmpty,
  role: z.literal('assistant'),
  content: z.array(z.discriminatedUnion('type', [text, reasoning, image, toolCall])),
  source: model,
})
const toolResultMessage = z
  .looseObject({ id: nonEmpty, role: z.literal('user'), content: z.tuple([toolResult]), source: tool })
  .refine(({ content: [block], source }) => block.toolCallId === source.callId, {
    message: 'toolCallId differs from source.callId',
    path: ['content', 0, 'toolCallId'],
  })

const milliseconds = z.number().int()
const textRun = {
  time0: milliseconds,
  index: nonNegative,
  dt: z.array(milliseconds),
  texts: z.array(z.string()),
}
const streamRecord = z.discriminatedUnion('type', [
  z.looseObject({ type: z.literal('text-chunks'), ...textRun }),
  z.looseObject({ type: z.literal('reasoning-chunks'), ...textRun }),
  z.looseObject({
    type: z.literal('tool-call-chunks'),
    time0: milliseconds,
    index: nonNegative,
    dt: z.array(milliseconds),
    id: nonEmpty,
    name: z.string().optional(),
    args: z.array(z.string()),
  }),
  z.looseObject({ type: z.literal('chunk'), time: milliseconds, chunk: z.looseObject({ type: nonEmpty }) }),
])
/** An assistant stream, record by record; of a chunk only that it has a type. SPEC 2.5. */
export const streamSchema: z.ZodType = z.array(streamRecord)
const usage = z.looseObject({
  inputTokens: nonNegative.optional(),
  outputTokens: nonNegative.optional(),
  cacheReadTokens: nonNegative.optional(),
  cacheWriteTokens: nonNegative.optional(),
  reasoningTokens: nonNegative.optional(),
})

const turn = { turn: count }
const step = { turn: count, step: count }
const toolContent = z.looseObject({ ...step, callId: nonEmpty, content: resultContent })
const config = z.looseObject({
  provider: nonEmpty,
  model: nonEmpty,
  reasoningEffort: z.string().optional(),
  temperature: z.number().optional(),
  maxTokens: count.optional(),
  stop: z.array(z.string()).optional(),
})
const endReason = z.discriminatedUnion('kind', [
  z.looseObject({ kind: z.literal('completed') }),
  z.looseObject({ kind: z.literal('aborted'), cause: anyJson.optional() }),
  z.looseObject({ kind: z.literal('error'), failure: anyJson.optional() }),
  z.looseObject({ kind: z.literal('blocked') }),
  z.looseObject({ kind: z.literal('max-tokens') }),
  z.looseObject({ kind: z.literal('interrupted') }),
])

/** The event types of the kernel itself. SPEC 2.3. */
export const coreEvents: Vocabulary = defineEvents(
  {
    'turn/start': z.looseObject(turn),
    'turn/end': z.looseObject({ ...turn, reason: endReason }),
    'step/start': z.looseObject(step),
    'step/end': z.looseObject(step),
    'system/message': z.looseObject({ ...step, message: systemMessage }),
    'user/message': userMessage,
    'assistant/message': z.looseObject({
      ...step,
      message: assistantMessage,
      stream: streamSchema,
      usage: usage.optional(),
      interrupted: z.literal(true).optional(),
      requestSeq: nonNegative.optional(),
    }),
    'assistant/attempt': z.looseObject({
      ...step,
      stream: streamSchema,
      failure: anyJson.optional(),
      requestSeq: nonNegative.optional(),
    }),
    'tool/call': z.looseObject({ ...step, callId: nonEmpty, name: nonEmpty, arguments: z.string() }),
    'tool/result': z.looseObject({
      ...step,
      message: toolResultMessage,
      error: z.looseObject({ name: z.string(), code: z.string() }).optional(),
      meta: anyJson.optional(),
    }),
    'request/header': z.looseObject({
      header: z.looseObject({
        config,
        adapterDefaults: z.looseObject({}).optional(),
        tools: z.array(z.looseObject({})).optional(),
      }),
      reason: z.enum(['initial', 'resume', 'change', 'series']),
    }),
    'request/context': z.looseObject({ provider: nonEmpty, model: nonEmpty, contextWindow: count.optional() }),
    'request/start': z.looseObject({ ...step, attempt: count, throughSeq: nonNegative }),
    'session/end-seed': z.looseObject({ inherited: z.literal(true).optional() }),
    'tool/progress': toolContent,
    'tool/late-result': toolContent,
  },
  { owner: '@palimpsest/session' },
)
