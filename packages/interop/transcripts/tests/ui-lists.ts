import fc from 'fast-check'
import { anyText } from './message-requests.ts'

type Loose = Record<string, unknown>

const png = 'data:image/png;base64,iVBORw=='
const metadata = fc.constantFrom<Loose>(
  {},
  { providerMetadata: { anthropic: { cacheControl: { type: 'ephemeral' } } } },
)
const texts = fc.tuple(anyText, metadata).map(([text, more]): Loose => ({ type: 'text', text, ...more }))
const userPart = fc.oneof(
  texts,
  fc.constantFrom<Loose>(
    { type: 'file', mediaType: 'image/png', url: png, filename: 'a.png' },
    { type: 'file', mediaType: 'application/pdf', url: 'data:application/pdf;base64,AAAA' },
    { type: 'file', mediaType: 'image/png', url: 'https://example.com/a.png' },
    { type: 'data-note', id: 'd1', data: { a: 1 } },
  ),
)
const said = fc.oneof(
  texts,
  fc.constantFrom<Loose>(
    { type: 'source-url', sourceId: 's1', url: 'https://example.com' },
    { type: 'source-document', sourceId: 's2', mediaType: 'text/plain', title: 't' },
    { type: 'file', mediaType: 'image/png', url: png },
    { type: 'data-note', data: 1 },
    {
      type: 'tool-web_search',
      toolCallId: 'srv',
      state: 'output-available',
      input: {},
      output: 1,
      providerExecuted: true,
    },
  ),
)
const thought = fc
  .tuple(anyText, anyText)
  .map(([text, signature]): Loose => ({ type: 'reasoning', text, providerMetadata: { anthropic: { signature } } }))
const outcome = fc.oneof(
  fc
    .oneof(anyText, fc.constant({ a: [1] }), fc.constant(null))
    .map((output): Loose => ({ state: 'output-available', output })),
  anyText.map((errorText): Loose => ({ state: 'output-error', errorText })),
  anyText.map((reason): Loose => ({ state: 'output-denied', approval: { id: 'p', approved: false, reason } })),
)
const tool = fc
  .tuple(
    fc.constantFrom<Loose>({ type: 'tool-bash' }, { type: 'dynamic-tool', toolName: 'mcp' }),
    fc.constantFrom({}, { a: 1 }),
    outcome,
  )
  .map(([name, input, result]) => (id: number): Loose => ({ ...name, toolCallId: `call_${id}`, input, ...result }))
const step = fc.record({
  thoughts: fc.array(thought, { maxLength: 1 }),
  said: fc.array(said, { minLength: 1, maxLength: 3 }),
  tools: fc.array(tool, { maxLength: 3 }),
})
const user = fc
  .tuple(fc.array(userPart, { minLength: 1, maxLength: 3 }), fc.constantFrom<Loose>({}, { metadata: { a: 1 } }))
  .map(([parts, more]): Loose => ({ role: 'user', parts, ...more }))
const turn = fc.tuple(user, fc.array(step, { minLength: 1, maxLength: 3 }))

/** Lists of `UIMessage`: a prompt of the system or none, then turns of a user and of an assistant. */
export const uiLists: fc.Arbitrary<Loose[]> = fc
  .tuple(fc.option(anyText), fc.array(turn, { minLength: 1, maxLength: 3 }))
  .map(([system, turns]) => {
    let calls = 0
    const head = system === null ? [] : [{ role: 'system', parts: [{ type: 'text', text: system }] }]
    const list = turns.flatMap(([asked, steps]): Loose[] => [
      asked,
      {
        role: 'assistant',
        parts: steps.flatMap(({ thoughts, said: texts, tools }) => [
          { type: 'step-start' },
          ...thoughts,
          ...texts,
          ...tools.map((make) => make((calls += 1))),
        ]),
      },
    ])
    return [...head, ...list].map((message, index): Loose => ({ id: `m${index}`, ...message }))
  })
