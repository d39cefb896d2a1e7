import fc from 'fast-check'
import type {
  AssistantBlock,
  ImageBlock,
  Json,
  ResultContentBlock,
  SystemMessage,
  ToolCallBlock,
  UserBlock,
} from '@palimpsest/session'
import { assistantData, resultData, systemData, userData } from './payloads.ts'

/** Text as people and models write it, and text that breaks careless code: surrogates, separators, quoted records. */
export const anyText: fc.Arbitrary<string> = fc.oneof(
  {
    arbitrary: fc.constantFrom('', ' ', 'ok', 'Fix the failing test in parser.ts', '42 passed\n1 failed\n'),
    weight: 4,
  },
  {
    arbitrary: fc.constantFrom(
      '\ud99c',
      'a\udc00b',
      '\u2028\u2029',
      '\u0000',
      'line\r\nline',
      '👩‍👩‍👧 e\u0301',
      '__proto__',
      '{"type":"tool/result","seq":3}\n',
      '</instructions>',
    ),
    weight: 2,
  },
  { arbitrary: fc.string({ unit: 'binary', maxLength: 6 }), weight: 1 },
)

const anyKey: fc.Arbitrary<string> = fc.oneof(
  fc.constantFrom('a', 'content', 'type', 'toJSON', 'constructor', 'length', '0', ''),
  anyText.filter((key) => key !== '__proto__'),
)

/** Lossless JSON, with the keys that break objects used as maps. */
export const anyJson: fc.Arbitrary<Json> = fc.letrec<{ value: Json }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3, depthSize: 'small' },
    fc.constant(null),
    fc.boolean(),
    fc.oneof(
      fc.integer(),
      fc.double({ noNaN: true, noDefaultInfinity: true }).map((n) => (n === 0 ? 0 : n)),
    ),
    anyText,
    fc.constant(null).map(() => JSON.parse('{"__proto__":{"a":1}}') as Json),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(anyKey, tie('value'), { maxKeys: 3 }),
  ),
})).value

/** Tool call ids from a pool so small that a run must reuse them; some are names of `Object.prototype` members. */
export const callIdPool = ['call_1', 'call_2', 'toolu_01', 'constructor', '__proto__', 'é\u0000\ud99c'] as const
export const anyCallId: fc.Arbitrary<string> = fc.constantFrom(...callIdPool)

const digest = `sha256:${'0123456789abcdef'.repeat(4)}`
export const anyImage: fc.Arbitrary<ImageBlock> = fc
  .record(
    {
      bytes: fc.nat(),
      width: fc.integer({ min: 1, max: 4096 }),
      height: fc.integer({ min: 1, max: 4096 }),
      name: fc.constantFrom('shot.png', 'é.png'),
    },
    { requiredKeys: ['bytes'] },
  )
  .map((rest) => ({ type: 'image', attachment: { attachmentId: digest, mediaType: 'image/png', ...rest } }))

const anyTextBlock: fc.Arbitrary<{ readonly type: 'text'; readonly text: string }> = anyText.map((text) => ({
  type: 'text',
  text,
}))

/** A block type that nobody declared, whose own `content` holds blocks that a user may send. */
const foreignBlock: fc.Arbitrary<UserBlock> = fc
  .tuple(anyJson, fc.array(fc.oneof(anyTextBlock, anyImage), { maxLength: 2 }))
  .map(([extra, content]) => ({ type: 'acme/document', extra, content }) as unknown as UserBlock)

export const anyUserContent: fc.Arbitrary<readonly UserBlock[]> = fc.array(
  fc.oneof(
    { arbitrary: anyTextBlock, weight: 5 },
    { arbitrary: anyImage, weight: 1 },
    { arbitrary: foreignBlock, weight: 1 },
  ),
  { maxLength: 3 },
)
export const anySystemContent: fc.Arbitrary<SystemMessage['content']> = fc.array(anyTextBlock, { maxLength: 2 })
export const anyResultContent: fc.Arbitrary<readonly ResultContentBlock[]> = fc.array(
  fc.oneof({ arbitrary: anyTextBlock, weight: 5 }, { arbitrary: anyImage, weight: 1 }),
  { maxLength: 2 },
)
/** What an assistant says beside its calls. */
export const anyAssistantProse: fc.Arbitrary<readonly AssistantBlock[]> = fc.array(
  fc.oneof(
    anyTextBlock,
    anyText.map((text) => ({ type: 'reasoning' as const, text })),
  ),
  { maxLength: 2 },
)
export const anyToolCall: fc.Arbitrary<ToolCallBlock> = fc
  .tuple(
    anyCallId,
    fc.constantFrom('read', 'bash', 'mcp__a.b/c'),
    fc.constantFrom('{}', '{"cmd":"ls"}', '{"cmd":"x', ''),
  )
  .map(([id, name, args]) => ({ type: 'tool-call', id: id as never, name, arguments: args }))

const anyId = fc.nat().map((n) => `m-${String(n)}`)

/** Valid payloads of the four surface types, as `{ type, data }`. */
export const anySurfacePayload: fc.Arbitrary<{ readonly type: string; readonly data: object }> = fc.oneof(
  fc.tuple(anyId, anySystemContent).map(([id, content]) => ({ type: 'system/message', data: systemData(id, content) })),
  fc.tuple(anyId, anyUserContent).map(([id, content]) => ({ type: 'user/message', data: userData(id, content) })),
  fc
    .tuple(anyId, anyAssistantProse, fc.uniqueArray(anyToolCall, { maxLength: 3, selector: (call) => call.id }))
    .map(([id, prose, calls]) => ({ type: 'assistant/message', data: assistantData(id, [...prose, ...calls]) })),
  fc.tuple(anyId, anyCallId, anyResultContent, fc.boolean()).map(([id, callId, content, isError]) => ({
    type: 'tool/result',
    data: resultData(id, callId, content, { turn: 1, step: 1 }, isError),
  })),
)
