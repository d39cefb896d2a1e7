import fc from 'fast-check'

type Loose = Record<string, unknown>

const blank = /^[\s\u001c-\u001f\u0085]*$/

/** Text that every provider takes as it is. */
export const anyText: fc.Arbitrary<string> = fc
  .string({
    minLength: 1,
    maxLength: 12,
    unit: fc.constantFrom('a', 'B', ' ', '\n', '"', '\\', 'é', '日', '😀', '{', ']'),
  })
  .filter((text) => !blank.test(text))
const anyBytes = fc.uint8Array({ minLength: 1, maxLength: 9 }).map((bytes) => Buffer.from(bytes).toString('base64'))
const imageType = fc.constantFrom('image/png', 'image/jpeg', 'image/gif', 'image/webp')
const anyUrl = fc.constantFrom('https://example.com/a.png', 'http://example.com/b?c=1')
const toolName = fc.constantFrom('bash', 'read_file', 'a-b', 'x'.repeat(64))
/** An object that JSON gives back as it is. */
const anyInput = fc
  .dictionary(fc.string({ maxLength: 4 }), fc.jsonValue({ maxDepth: 2 }), { maxKeys: 3 })
  .map((input) => JSON.parse(JSON.stringify(input)) as Loose)
const shuffled = <Item>(items: readonly Item[], keys: readonly number[]): Item[] =>
  items
    .map((item, index) => ({ item, key: keys[index] ?? 0 }))
    .sort((a, b) => a.key - b.key)
    .map(({ item }) => item)
const anyOrder = fc.array(fc.nat(9), { minLength: 4, maxLength: 4 })
const some = <Item>(item: fc.Arbitrary<Item>, maxLength = 3): fc.Arbitrary<Item[]> =>
  fc.array(item, { minLength: 1, maxLength })
const maybe = (member: string, value: fc.Arbitrary<unknown>): fc.Arbitrary<Loose> =>
  fc.option(value, { nil: undefined }).map((given): Loose => (given === undefined ? {} : { [member]: given }))

/** Gives calls ids of their own: a number after what is given. */
function numbered(): (prefix: string) => string {
  let count = 0
  return (prefix) => `${prefix}${(count += 1)}`
}

const chatText = fc.record({ type: fc.constant('text'), text: anyText })
const chatContent = fc.oneof(anyText, some(chatText))
const chatUserPart = fc.oneof(
  chatText,
  fc.tuple(imageType, anyBytes, maybe('detail', fc.constantFrom('low', 'auto'))).map(([type, data, detail]) => ({
    type: 'image_url',
    image_url: { url: `data:${type};base64,${data}`, ...detail },
  })),
  fc
    .tuple(anyUrl, maybe('detail', fc.constant('high')))
    .map(([url, detail]) => ({ type: 'image_url', image_url: { url, ...detail } })),
  anyBytes.map((data) => ({ type: 'input_audio', input_audio: { data, format: 'wav' } })),
  anyBytes.map((data) => ({
    type: 'file',
    file: { filename: 'a.pdf', file_data: `data:application/pdf;base64,${data}` },
  })),
  fc.constant({ type: 'file', file: { file_id: 'file-1' } }),
)
const anyName = maybe('name', fc.constantFrom('ann', 'bob'))
const chatCall = fc.oneof(
  fc.tuple(toolName, anyInput, fc.nat(1)).map(([name, input, indent]) => ({
    type: 'function',
    function: { name, arguments: JSON.stringify(input, undefined, indent) },
  })),
  fc.tuple(toolName, anyText).map(([name, input]) => ({ type: 'custom', custom: { name, input } })),
)
const chatBatch = fc
  .record({
    content: fc.oneof(fc.constant(null), fc.constant(undefined), chatContent),
    more: anyName,
    calls: some(chatCall, 4),
    outputs: fc.array(chatContent, { minLength: 4, maxLength: 4 }),
    order: anyOrder,
    named: anyName,
  })
  .map(({ content, more, calls, outputs, order, named }) => (next: (prefix: string) => string): Loose[] => {
    const tool_calls: Loose[] = calls.map((call) => ({ id: next('call_'), ...call }))
    const results = tool_calls.map(({ id }, index): Loose => ({
      role: 'tool',
      tool_call_id: id,
      content: outputs[index],
      ...named,
    }))
    return [
      { role: 'assistant', ...(content === undefined ? {} : { content }), ...more, tool_calls },
      ...shuffled(results, order),
    ]
  })
const chatAnswer = fc.oneof(
  fc.tuple(chatContent, anyName).map(([content, more]): Loose => ({ role: 'assistant', content, ...more })),
  anyText.map((refusal): Loose => ({ role: 'assistant', content: null, refusal })),
  chatContent.map((content): Loose => ({ role: 'assistant', content, refusal: null })),
  fc
    .tuple(some(chatText), anyText)
    .map(([texts, refusal]): Loose => ({ role: 'assistant', content: [...texts, { type: 'refusal', refusal }] })),
  fc.constant<Loose>({ role: 'assistant', content: null, audio: { id: 'audio_1' } }),
)
const chatUser = fc
  .tuple(fc.oneof(anyText, some(chatUserPart)), anyName)
  .map(([content, more]): Loose => ({ role: 'user', content, ...more }))

/** Requests of Chat Completions that its rules take and whose first message after the prompt is a user's. */
export const chatRequests: fc.Arbitrary<{ messages: Loose[] }> = fc
  .record({
    head: fc.option(
      fc
        .tuple(fc.constantFrom('system', 'developer'), chatContent, anyName)
        .map(([role, content, more]): Loose => ({ role, content, ...more })),
    ),
    first: chatUser,
    rest: fc.array(fc.oneof(chatUser, chatAnswer, chatBatch), { maxLength: 6 }),
  })
  .map(({ head, first, rest }) => {
    const next = numbered()
    return {
      messages: [
        ...(head === null ? [] : [head]),
        first,
        ...rest.flatMap((turn) => (typeof turn === 'function' ? turn(next) : [turn])),
      ],
    }
  })

/** Requests of DeepSeek with thinking on. */
export const deepSeekRequests: fc.Arbitrary<{ messages: Loose[] }> = fc
  .record({
    request: chatRequests,
    thoughts: fc.array(fc.oneof(fc.constant(''), anyText), { minLength: 9, maxLength: 9 }),
  })
  .map(({ request, thoughts }) => ({
    messages: request.messages.map(({ name: _, refusal: __, audio: ___, ...message }, index): Loose => {
      const { role, content, tool_calls: calls } = message
      const plain = Array.isArray(content)
        ? (content as Loose[]).flatMap(({ text }) => (typeof text === 'string' ? [{ type: 'text', text }] : []))
        : content
      const said = Array.isArray(plain) && plain.length === 0 ? 'x' : (plain ?? (calls === undefined ? 'x' : plain))
      if (role === 'developer') return { ...message, role: 'system', content: said }
      if (role !== 'assistant') return { ...message, content: said }
      const functions = (calls as Loose[] | undefined)?.map(({ id, function: called }) => ({
        id,
        type: 'function',
        function: called ?? { name: 'f', arguments: '{}' },
      }))
      const { tool_calls: ____, content: _____, ...rest } = message
      return {
        ...rest,
        ...(said === undefined ? {} : { content: said }),
        reasoning_content: thoughts[index % 9],
        ...(functions === undefined ? {} : { tool_calls: functions }),
      }
    }),
  }))

const claudeText = fc.record({ type: fc.constant('text'), text: anyText })
const claudeMedia = fc.oneof(
  fc
    .tuple(imageType, anyBytes)
    .map(([media_type, data]) => ({ type: 'image', source: { type: 'base64', media_type, data } })),
  anyUrl.map((url) => ({ type: 'image', source: { type: 'url', url } })),
  fc.tuple(anyBytes, maybe('title', anyText)).map(([data, title]) => {
    return { type: 'document', source: { type: 'base64', media_type: 'application/pdf', data }, ...title }
  }),
  anyText.map((data) => ({ type: 'document', source: { type: 'text', media_type: 'text/plain', data } })),
  fc.constant({ type: 'document', source: { type: 'file', file_id: 'file_1' }, citations: { enabled: true } }),
  anyText.map((text) => ({
    type: 'search_result',
    source: 'https://example.com',
    title: 't',
    content: [{ type: 'text', text }],
  })),
)
const claudeContent = fc.oneof(anyText, some(fc.oneof(claudeText, claudeMedia)))
const claudeUser = some(claudeContent, 2).map((contents) =>
  contents.map((content): Loose => ({ role: 'user', content })),
)
const claudeThought = fc.oneof(
  fc.record({ type: fc.constant('thinking'), thinking: fc.oneof(fc.constant(''), anyText), signature: anyText }),
  fc.record({ type: fc.constant('redacted_thinking'), data: anyText }),
)
const claudeSaid = fc.oneof(
  claudeText,
  anyText.map((text) => ({ type: 'text', text, citations: [{ type: 'char_location', cited_text: 'x' }] })),
  fc.constant({ type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: { query: 'q' } }),
  fc.constant({ type: 'web_search_tool_result', tool_use_id: 'srvtoolu_1', content: [] }),
)
const claudeCall = fc
  .tuple(toolName, anyInput, maybe('caller', fc.constant({ type: 'direct' })))
  .map(([name, input, caller]): Loose => ({ type: 'tool_use', name, input, ...caller }))
const claudeOutput = fc.oneof(
  fc
    .tuple(claudeContent, maybe('is_error', fc.constant(false)))
    .map(([content, flag]): Loose => ({ content, ...flag })),
  fc.oneof(anyText, some(claudeText)).map((content): Loose => ({ content, is_error: true })),
  fc.constant<Loose>({ content: [{ type: 'tool_reference', tool_name: 'bash' }] }),
)
const claudeTurn = fc
  .record({
    thoughts: fc.array(claudeThought, { maxLength: 2 }),
    said: fc.array(fc.oneof(claudeSaid, claudeCall), { minLength: 1, maxLength: 4 }),
    cut: fc.nat(4),
    outputs: fc.array(claudeOutput, { minLength: 4, maxLength: 4 }),
    order: anyOrder,
    after: fc.option(claudeContent),
  })
  .map(({ thoughts, said, cut, outputs, order, after }) => (next: (prefix: string) => string): Loose[] => {
    const blocks: Loose[] = [
      ...thoughts,
      ...said.map((block): Loose => (block.type === 'tool_use' ? { id: next('toolu_'), ...block } : block)),
    ]
    const calls = blocks.filter(({ type }) => type === 'tool_use')
    const results = calls.map(({ id }, index) => ({ type: 'tool_result', tool_use_id: id, ...outputs[index] }))
    const more = after === null ? [] : typeof after === 'string' ? [{ type: 'text', text: after }] : after
    // Neighbours are one turn to the API, wherever they are cut.
    const place = Math.min(cut, blocks.length)
    const parts = [blocks.slice(0, place), blocks.slice(place)].filter(({ length }) => length > 0)
    return [
      ...parts.map((content): Loose => ({ role: 'assistant', content })),
      ...(calls.length === 0 ? [] : [{ role: 'user', content: [...shuffled(results, order), ...more] }]),
    ]
  })

/** Requests of the Messages API that its rules take and that begin with a user. */
export const claudeRequests: fc.Arbitrary<{ system?: unknown; messages: Loose[] }> = fc
  .record({
    system: fc.option(fc.oneof(anyText, some(claudeText))),
    first: claudeUser,
    rest: fc.array(fc.oneof(claudeUser, claudeTurn), { maxLength: 6 }),
  })
  .map(({ system, first, rest }) => {
    const next = numbered()
    const messages = [...first, ...rest.flatMap((turn) => (typeof turn === 'function' ? turn(next) : turn))]
    return { ...(system === null ? {} : { system }), messages }
  })

const inputText = fc.record({ type: fc.constant('input_text'), text: anyText })
const inputPart = fc.oneof(
  inputText,
  fc
    .tuple(imageType, anyBytes, maybe('detail', fc.constant('low')))
    .map(([type, data, detail]) => ({ type: 'input_image', image_url: `data:${type};base64,${data}`, ...detail })),
  anyUrl.map((image_url) => ({ type: 'input_image', image_url, detail: 'auto' })),
  fc.constant({ type: 'input_image', file_id: 'file-1', detail: 'auto' }),
  anyBytes.map((data) => ({ type: 'input_file', filename: 'a.pdf', file_data: `data:application/pdf;base64,${data}` })),
  fc.constant({ type: 'input_file', file_url: 'https://example.com/a.pdf' }),
)
const inputContent = fc.oneof(anyText, some(inputPart))
const maybeType = maybe('type', fc.constant('message'))
const inputMessage = fc
  .tuple(maybeType, inputContent)
  .map(([type, content]): Loose => ({ ...type, role: 'user', content }))
const saidPart = fc.oneof(
  fc.record({ type: fc.constant('output_text'), text: anyText }),
  fc.record({ type: fc.constant('refusal'), refusal: anyText }),
)
type Step = (next: (prefix: string) => string) => Loose[]
const outputMessage = fc
  .record({
    more: maybe('phase', fc.constantFrom('commentary', 'final_answer')),
    content: fc.oneof(anyText, some(saidPart)),
    hasId: fc.boolean(),
  })
  .map(({ more, content, hasId }): Step => (next) => [
    {
      type: 'message',
      role: 'assistant',
      content,
      ...more,
      ...(hasId ? { id: next('msg_'), status: 'completed' } : {}),
    },
  ])
const serverItem = fc.constant<Step>((next) => [
  { type: 'web_search_call', id: next('ws_'), status: 'completed', action: { type: 'search' } },
])
const thought = fc
  .tuple(fc.array(fc.record({ type: fc.constant('summary_text'), text: anyText }), { maxLength: 2 }), anyText)
  .map(([summary, encrypted_content]): Step => (next) => [
    { type: 'reasoning', id: next('rs_'), summary, encrypted_content },
  ])
const functionCall = fc
  .tuple(toolName, anyInput, inputContent)
  .map(([name, input, output]) => (next: (prefix: string) => string): [Loose, Loose] => {
    const call_id = next('call_')
    return [
      { type: 'function_call', call_id, name, arguments: JSON.stringify(input) },
      { type: 'function_call_output', call_id, output },
    ]
  })
const customCall = fc
  .tuple(toolName, anyText, anyText)
  .map(([name, input, output]) => (next: (prefix: string) => string): [Loose, Loose] => {
    const call_id = next('call_')
    return [
      { type: 'custom_tool_call', call_id, name, input },
      { type: 'custom_tool_call_output', call_id, output },
    ]
  })
const step = fc
  .record({
    thoughts: fc.array(thought, { maxLength: 2 }),
    said: some(fc.oneof(outputMessage, serverItem), 2),
    calls: fc.array(fc.oneof(functionCall, customCall), { maxLength: 3 }),
    order: anyOrder,
  })
  .map(({ thoughts, said, calls, order }): Step => (next) => {
    const pairs = calls.map((make) => make(next))
    return [
      ...thoughts.flatMap((make) => make(next)),
      ...said.flatMap((make) => make(next)),
      ...pairs.map(([call]) => call),
      ...shuffled(
        pairs.map(([, output]) => output),
        order,
      ),
    ]
  })

/** Inputs of Responses that its rules take and whose first item after the prompt is a user's. */
export const responsesRequests: fc.Arbitrary<{ input: Loose[] }> = fc
  .record({
    head: fc.option(
      fc
        .tuple(fc.constantFrom('system', 'developer'), fc.oneof(anyText, some(inputText)))
        .map(([role, content]): Loose => ({ type: 'message', role, content })),
    ),
    first: inputMessage,
    rest: fc.array(fc.oneof(inputMessage, step), { maxLength: 5 }),
  })
  .map(({ head, first, rest }) => {
    const next = numbered()
    return {
      input: [
        ...(head === null ? [] : [head]),
        first,
        ...rest.flatMap((turn) => (typeof turn === 'function' ? turn(next) : [turn])),
      ],
    }
  })

const options = maybe('providerOptions', fc.constant({ anthropic: { cacheControl: { type: 'ephemeral' } } }))
const modelText = fc.tuple(anyText, options).map(([text, more]): Loose => ({ type: 'text', text, ...more }))
const modelUserPart = fc.oneof(
  modelText,
  fc
    .tuple(imageType, anyBytes, options, maybe('filename', fc.constant('a.png')))
    .map(([mediaType, data, more, name]): Loose => ({ type: 'file', mediaType, data, ...more, ...name })),
  anyBytes.map((data): Loose => ({ type: 'file', mediaType: 'application/pdf', data, filename: 'a.pdf' })),
  anyUrl.map((data): Loose => ({ type: 'file', mediaType: 'image/png', data })),
)
const modelContent = fc.oneof(anyText, some(modelUserPart))
const modelUser = fc.tuple(modelContent, options).map(([content, more]): Loose => ({ role: 'user', content, ...more }))
const modelThought = anyText.map((signature): Loose => ({
  type: 'reasoning',
  text: 'hm',
  providerOptions: { anthropic: { signature } },
}))
const modelOutput = fc.oneof(
  fc.record({ type: fc.constantFrom('text', 'error-text'), value: anyText }),
  fc.record({
    type: fc.constantFrom('json', 'error-json'),
    value: fc.oneof(anyInput, fc.integer(), fc.constant(null), anyText),
  }),
  some(fc.record({ type: fc.constant('text'), text: anyText })).map((value) => ({ type: 'content', value })),
  anyText.map((reason) => ({ type: 'execution-denied', reason })),
)
const modelStep = fc
  .record({
    thoughts: fc.array(modelThought, { maxLength: 1 }),
    texts: some(modelText, 2),
    own: fc.array(
      fc.constantFrom<Loose>(
        { type: 'tool-call', toolName: 'web_search', input: {}, providerExecuted: true },
        { type: 'custom', kind: 'anthropic.compaction' },
      ),
      { maxLength: 1 },
    ),
    calls: fc.array(fc.tuple(toolName, anyInput, options), { maxLength: 3 }),
    outputs: fc.array(modelOutput, { minLength: 3, maxLength: 3 }),
    order: anyOrder,
    more: options,
    asText: fc.boolean(),
  })
  .map(({ thoughts, texts, own, calls, outputs, order, more, asText }): Step => (next) => {
    const parts = calls.map(([toolName, input, extra]): Loose => ({
      type: 'tool-call',
      toolCallId: next('call_'),
      toolName,
      input,
      ...extra,
    }))
    const results = parts.map(({ toolCallId, toolName }, index) => ({
      type: 'tool-result',
      toolCallId,
      toolName,
      output: outputs[index],
    }))
    if (asText) return [{ role: 'assistant', content: texts[0]?.['text'], ...more }]
    const ran = own.map((part) => (part['type'] === 'tool-call' ? { ...part, toolCallId: next('srv_') } : part))
    const said = { role: 'assistant', content: [...thoughts, ...texts, ...ran, ...parts], ...more }
    // Results of one batch may come in one message or in several.
    const given = shuffled(results, order).map((result) => ({ role: 'tool', content: [result] }))
    return [said, ...given]
  })

/** Lists of `ModelMessage` that the rules of the AI SDK take and whose first message after the prompt is a user's. */
export const modelLists: fc.Arbitrary<Loose[]> = fc
  .record({
    head: fc.option(fc.tuple(anyText, options).map(([content, more]): Loose => ({ role: 'system', content, ...more }))),
    first: modelUser,
    rest: fc.array(fc.oneof(modelUser, modelStep), { maxLength: 5 }),
  })
  .map(({ head, first, rest }) => {
    const next = numbered()
    return [
      ...(head === null ? [] : [head]),
      first,
      ...rest.flatMap((turn) => (typeof turn === 'function' ? turn(next) : [turn])),
    ]
  })
