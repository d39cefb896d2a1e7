import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { coreEvents } from '../src/core-events.ts'
import { surelyMatches } from '../src/quick-check.ts'

const message = { id: 'm', role: 'user', content: [{ type: 'text', text: 'hi' }], source: { kind: 'user' } }
const valid: Readonly<Record<string, unknown>> = {
  'turn/start': { turn: 1 },
  'turn/end': { turn: 1, reason: { kind: 'aborted', cause: 'user' } },
  'step/start': { turn: 1, step: 2 },
  'step/end': { turn: 1, step: 2 },
  'user/message': message,
  'assistant/message': {
    turn: 1,
    step: 1,
    message: {
      id: 'a',
      role: 'assistant',
      content: [
        { type: 'reasoning', text: 'hm' },
        { type: 'text', text: 'yes' },
        { type: 'tool-call', id: 'c', name: 'bash', arguments: '{}' },
      ],
      source: { kind: 'model', provider: 'p', model: 'm' },
    },
    stream: [
      { type: 'reasoning-chunks', time0: 1, index: 0, dt: [], texts: ['hm'] },
      { type: 'text-chunks', time0: 1, index: 1, dt: [2], texts: ['y', 'es'] },
      { type: 'tool-call-chunks', time0: 4, index: 2, dt: [0], id: 'c', name: 'bash', args: ['{', '}'] },
      { type: 'tool-call-chunks', time0: 4, index: 2, dt: [], id: 'c', args: [''] },
      { type: 'chunk', time: 5, chunk: { type: 'finish', reason: 'stop' } },
    ],
    usage: { inputTokens: 1, outputTokens: 2, cacheReadTokens: 3, cacheWriteTokens: 4, reasoningTokens: 5 },
    interrupted: true,
    requestSeq: 0,
  },
  'request/start': { turn: 1, step: 1, attempt: 1, throughSeq: 0 },
  'tool/call': { turn: 1, step: 1, callId: 'c', name: 'bash', arguments: '{}' },
  'tool/result': {
    turn: 1,
    step: 1,
    message: {
      id: 'r',
      role: 'user',
      content: [{ type: 'tool-result', toolCallId: 'c', content: [{ type: 'text', text: 'ok' }], isError: false }],
      source: { kind: 'tool', callId: 'c' },
    },
    error: { name: 'Error', code: 'EXIT' },
  },
}

/** Every path to a member or an element of a value. */
function paths(value: unknown, prefix: readonly string[] = []): (readonly string[])[] {
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, member]) => [[...prefix, key], ...paths(member, [...prefix, key])])
}

function mutate(
  value: unknown,
  path: readonly string[],
  change: { readonly drop: boolean; readonly put: unknown },
): unknown {
  const copy: unknown = structuredClone(value)
  let at = copy as Record<string, unknown>
  for (const key of path.slice(0, -1)) at = at[key] as Record<string, unknown>
  const last = path.at(-1) as string
  if (change.drop && !Array.isArray(at)) delete at[last]
  else at[last] = change.put
  return copy
}

describe('a cheap proof', () => {
  it.each(Object.keys(valid))('recognises a plain %s', (type) => {
    expect(surelyMatches(type, valid[type])).toBe(true)
  })

  it('never accepts a payload that its schema refuses', () => {
    const oddValue = fc.oneof(
      fc.constantFrom<unknown>(
        '',
        'tool-result',
        'image',
        'system',
        0,
        -1,
        1.5,
        2 ** 53,
        null,
        [],
        {},
        true,
        false,
        'c',
        'd',
      ),
      fc.constantFrom(
        [{ type: 'text', text: 1 }],
        [null],
        [[]],
        ['x'],
        { kind: 'tool', callId: 'z' },
        { kind: 'plugin' },
      ),
    )
    const changed = fc
      .constantFrom(...Object.entries(valid))
      .chain(([type, data]) =>
        fc
          .record({ path: fc.constantFrom(...paths(data)), drop: fc.boolean(), put: oddValue })
          .map(({ path, ...change }) => ({ type, data: mutate(data, path, change) })),
      )
    fc.assert(
      fc.property(changed, ({ type, data }) => {
        const accepted = coreEvents.get(type)?.schema.safeParse(data).success
        return !surelyMatches(type, data) || accepted === true
      }),
      { numRuns: 6000 },
    )
  })

  it('says nothing about a type that it does not know', () => {
    expect(surelyMatches('session/end-seed', {})).toBe(false)
  })
})
