import { assembleStream, expandStream, StreamAccumulator } from '@palimpsest/session'
import type { AssistantStreamRecord, StreamChunk, TimedChunk, ToolCallId } from '@palimpsest/session'
import { anyText, anyToolCall, codingSession, text, toolCall } from '@palimpsest/testkit'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'

const textDelta = (index: number, value: string): StreamChunk => ({ type: 'text-delta', index, text: value })
const callDelta = (index: number, id: string, argumentsDelta: string, name?: string): StreamChunk => ({
  type: 'tool-call-delta',
  index,
  id: id as ToolCallId,
  ...(name === undefined ? {} : { name }),
  argumentsDelta,
})

const anyIndex = fc.nat({ max: 2 })
const anyChunk: fc.Arbitrary<StreamChunk> = fc.oneof(
  fc.tuple(anyIndex, anyText).map(([index, value]) => textDelta(index, value)),
  fc.tuple(anyIndex, anyText).map(([index, value]) => ({ type: 'reasoning-delta' as const, index, text: value })),
  fc
    .tuple(anyIndex, fc.constantFrom('a', 'b'), anyText, fc.constantFrom('read', undefined))
    .map(([index, id, args, name]) => callDelta(index, id, args, name)),
  fc
    .tuple(anyIndex, fc.constantFrom('text', 'tool-call'))
    .map(([index, blockType]) => ({ type: 'block-start' as const, index, blockType })),
  fc.tuple(anyIndex, anyToolCall).map(([index, block]) => ({ type: 'block-end' as const, index, block })),
  fc.constant({ type: 'usage' as const, usage: { inputTokens: 3 } }),
  fc.constant({ type: 'finish' as const, reason: 'stop', replayState: { id: 'r' } }),
)
const anyStream: fc.Arbitrary<TimedChunk[]> = fc.array(
  fc.record({ time: fc.integer({ min: -5, max: 2 ** 42 }), chunk: anyChunk }),
  { maxLength: 12 },
)

function pack(stream: readonly TimedChunk[]): AssistantStreamRecord[] {
  const accumulator = new StreamAccumulator()
  for (const { time, chunk } of stream) accumulator.push(time, chunk)
  return accumulator.records()
}
const timed = (...chunks: StreamChunk[]): TimedChunk[] => chunks.map((chunk, at) => ({ time: 1000 + at, chunk }))

describe('an assistant stream', () => {
  it('expands to exactly the chunks that were packed, boundaries and times included, through text too', () => {
    fc.assert(
      fc.property(anyStream, (stream) => {
        const records = pack(stream)
        expect(expandStream(records)).toEqual(stream)
        expect(expandStream(JSON.parse(JSON.stringify(records)) as AssistantStreamRecord[])).toEqual(stream)
      }),
    )
  })

  it('packs what was expanded into the same records: packing is canonical', () => {
    fc.assert(
      fc.property(anyStream, (stream) => {
        const records = pack(stream)
        expect(pack(expandStream(records))).toEqual(records)
      }),
    )
  })

  it('assembles the same content however its deltas were cut', () => {
    fc.assert(
      fc.property(fc.array(anyText, { maxLength: 6 }), (parts) => {
        const whole = parts.join('')
        const cut = assembleStream(pack(timed(...parts.map((part) => textDelta(0, part)))))
        expect(cut).toEqual(whole === '' ? [] : [text(whole)])
      }),
    )
  })

  it('packs a run of deltas of one block, never joined, with the gaps between them', () => {
    const records = pack([
      { time: 100, chunk: textDelta(0, 'a') },
      { time: 103, chunk: textDelta(0, '') },
      { time: 101, chunk: textDelta(0, 'b') },
      { time: 104, chunk: textDelta(1, 'c') },
    ])
    expect(records).toEqual([
      { type: 'text-chunks', time0: 100, index: 0, dt: [3, -2], texts: ['a', '', 'b'] },
      { type: 'text-chunks', time0: 104, index: 1, dt: [], texts: ['c'] },
    ])
  })

  it('begins a new run where the call or its name changes', () => {
    const deltas = [
      callDelta(0, 'a', '{', 'read'),
      callDelta(0, 'a', '}'),
      callDelta(0, 'b', '{}'),
      callDelta(0, 'b', ''),
    ]
    expect(pack(timed(...deltas)).map((record) => (record.type === 'tool-call-chunks' ? record.args : []))).toEqual([
      ['{'],
      ['}'],
      ['{}', ''],
    ])
  })

  it('keeps a delta with members that a run would lose as a chunk', () => {
    const extended = { ...textDelta(0, 'a'), logprob: -1 } as unknown as StreamChunk
    const call = { ...callDelta(0, 'a', '{}'), logprob: -1 } as unknown as StreamChunk
    const thought = { type: 'reasoning-delta', index: 0, text: 'a', logprob: -1 } as unknown as StreamChunk
    const records = pack(timed(extended, call, thought))
    expect(records.map(({ type }) => type)).toEqual(['chunk', 'chunk', 'chunk'])
    expect(expandStream(records).map(({ chunk }) => chunk)).toEqual([extended, call, thought])
  })

  it('gives fresh records at any time', () => {
    const accumulator = new StreamAccumulator()
    accumulator.push(1, textDelta(0, 'a'))
    const before = accumulator.records()
    accumulator.push(2, textDelta(0, 'b'))
    expect(before).toEqual([{ type: 'text-chunks', time0: 1, index: 0, dt: [], texts: ['a'] }])
    expect(accumulator.records()).not.toEqual(before)
  })

  it.each<[string, object]>([
    ['an empty run', { type: 'text-chunks', time0: 1, index: 0, dt: [], texts: [] }],
    ['too few gaps', { type: 'text-chunks', time0: 1, index: 0, dt: [], texts: ['a', 'b'] }],
    ['too many gaps', { type: 'tool-call-chunks', time0: 1, index: 0, dt: [1], id: 'a', args: ['a'] }],
    ['a time that is no integer', { type: 'reasoning-chunks', time0: 1, index: 0, dt: [0.5], texts: ['a', 'b'] }],
    ['an unknown kind of record', { type: 'image-chunks', time0: 1, index: 0, dt: [], texts: ['a'] }],
    ['a run without parts', { type: 'text-chunks', time0: 1, index: 0, dt: [] }],
    ['a part that is no text', { type: 'text-chunks', time0: 1, index: 0, dt: [], texts: [5] }],
    ['an index that is none', { type: 'text-chunks', time0: 1, index: -1, dt: [], texts: ['a'] }],
    ['a call without an id', { type: 'tool-call-chunks', time0: 1, index: 0, dt: [], args: ['{}'] }],
    ['a chunk at no time', { type: 'chunk', time: 1.5, chunk: { type: 'usage', usage: {} } }],
    ['a record without its chunk', { type: 'chunk', time: 1 }],
    [
      'a time past every safe integer',
      { type: 'text-chunks', time0: Number.MAX_SAFE_INTEGER, index: 0, dt: [1], texts: ['a', 'b'] },
    ],
    ['a first time that is no integer', { type: 'reasoning-chunks', time0: 0.5, index: 0, dt: [], texts: ['a'] }],
  ])('refuses %s, naming the record', (_, record) => {
    const records = [{ type: 'chunk', time: 1, chunk: { type: 'usage', usage: {} } }, record] as AssistantStreamRecord[]
    expect(() => expandStream(records)).toThrow(
      expect.objectContaining({ name: 'SessionError', code: 'stream/invalid' }),
    )
    expect(() => assembleStream(records)).toThrow(/record 1/)
  })

  it('refuses what is no list of records', () => {
    for (const records of [undefined, {}, [null]]) {
      expect(() => expandStream(records as never)).toThrow(expect.objectContaining({ code: 'stream/invalid' }))
    }
  })
})

describe('assembleStream', () => {
  it('rebuilds the content in the order in which blocks first appeared', () => {
    const records = pack(
      timed(
        { type: 'block-start', index: 2, blockType: 'reasoning' },
        { type: 'reasoning-delta', index: 2, text: 'hm' },
        textDelta(0, 'I will'),
        callDelta(1, 'a', '{"path":', 'read'),
        textDelta(0, ' look'),
        callDelta(1, 'a', '"x"}'),
        { type: 'finish', reason: 'tool-calls' },
      ),
    )
    expect(assembleStream(records)).toEqual([
      { type: 'reasoning', text: 'hm' },
      text('I will look'),
      toolCall('a', 'read', '{"path":"x"}'),
    ])
  })

  it('lets the closing of a block settle its content', () => {
    const closed = toolCall('a', 'read', '{"path":"x"}')
    const records = pack(timed(callDelta(0, 'a', '{"pa', 'read'), { type: 'block-end', index: 0, block: closed }))
    expect(assembleStream(records)).toEqual([closed])
    expect(assembleStream(records, { interrupted: true })).toEqual([closed])
  })

  it('keeps only the visible prefix of an interrupted stream: its text, not its half-written call', () => {
    const records = pack(timed(textDelta(0, 'I wi'), callDelta(1, 'a', '{"pa', 'read')))
    expect(assembleStream(records, { interrupted: true })).toEqual([text('I wi')])
    expect(assembleStream(records).length).toBe(2)
  })

  it('leaves out blocks that were opened and never filled', () => {
    const records = pack(timed({ type: 'block-start', index: 0, blockType: 'text' }, textDelta(1, '')))
    expect(assembleStream(records)).toEqual([])
  })

  it('assembles a call that never got a name with an empty one', () => {
    expect(assembleStream(pack(timed(callDelta(0, 'a', '{}'))))).toEqual([toolCall('a', '', '{}')])
  })

  it('agrees with every message of the seeded coding session', () => {
    for (const { type, data } of codingSession({ seed: 5, events: 300, replacementRate: 0 })) {
      if (type !== 'assistant/message') continue
      const { stream, message } = data as unknown as { stream: AssistantStreamRecord[]; message: { content: unknown } }
      expect(assembleStream(stream)).toEqual(message.content)
      expect(pack(expandStream(stream))).toEqual(stream)
    }
  })
})
