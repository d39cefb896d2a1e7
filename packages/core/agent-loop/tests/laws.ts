import { APICallError } from '@ai-sdk/provider'
import { Session } from '@palimpsest/session'
import type { ScriptedAnswer, ScriptedPart } from '@palimpsest/testkit'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { z } from 'zod'
import { type AgentTool, defineTool } from '../src/index.ts'
import { type Rig, rig } from './harness.ts'

const given = process.env['PALIMPSEST_SEED']
const seed = given === undefined ? Math.trunc(Math.random() * 2 ** 31) : Number(given)

/** An error of the provider, as the published packages throw it. */
export function apiError(statusCode: number, responseHeaders: Record<string, string> = {}): APICallError {
  return new APICallError({
    message: `status ${String(statusCode)}`,
    url: 'https://provider.example/v1',
    requestBodyValues: {},
    statusCode,
    responseHeaders,
  })
}

/** Tools of every temper. */
const tools: AgentTool[] = [
  defineTool({ name: 'quick', inputSchema: z.object({ n: z.number() }), execute: ({ n }) => String(n) }),
  defineTool({
    name: 'steps',
    inputSchema: z.object({ n: z.number() }),
    execute: async ({ n }, { progress }) => {
      for (let at = 0; at < n; at += 1) {
        progress(`step ${String(at)}`)
        await Promise.resolve()
      }
      return { n }
    },
  }),
  defineTool({
    name: 'throws',
    inputSchema: z.object({}),
    execute: () => {
      throw new Error('no luck')
    },
  }),
  defineTool({
    name: 'hangs',
    inputSchema: z.object({}),
    timeoutMs: 1,
    execute: (_, { signal }) =>
      new Promise((_resolve, reject) => {
        signal.addEventListener('abort', () => reject(new DOMException('stopped', 'AbortError')), { once: true })
      }),
  }),
  defineTool({
    name: 'deaf',
    inputSchema: z.object({}),
    timeoutMs: 1,
    execute: () => new Promise<string>(() => undefined),
  }),
]

const anyPart: fc.Arbitrary<ScriptedPart> = fc.oneof(
  fc.constantFrom<ScriptedPart>(
    'Hello.',
    { text: '' },
    { reasoning: 'Hm.', metadata: { scripted: { signature: 's' } } },
    {
      reasoning: '',
      metadata: { scripted: { redacted: 'r' } },
    },
  ),
  fc
    .record({
      call: fc.constantFrom('quick', 'quick', 'steps', 'throws', 'hangs', 'deaf', 'missing'),
      input: fc.constantFrom<ScriptedPart extends infer P ? (P extends { input?: infer I } ? I : never) : never>(
        { n: 2 },
        { n: 2 },
        {},
        '',
        '{"n":',
        '[]',
      ),
      id: fc.constantFrom('a', 'b', '', ' ', 'a~2'),
      streamed: fc.boolean(),
    })
    .map((call): ScriptedPart => call as ScriptedPart),
)

const anyAnswer: fc.Arbitrary<ScriptedAnswer> = fc.record(
  {
    parts: fc.array(anyPart, { maxLength: 5 }),
    ends: fc.constantFrom('finish', 'finish', 'finish', 'finish', 'finish', 'early', 'cut', 'error'),
    finish: fc.constantFrom('stop', 'stop', 'length', 'content-filter', 'interrupted', 'error', 'other'),
    usage: fc.constant({ input: 10, output: 2 }),
    rejects: fc
      .constantFrom(undefined, undefined, undefined, undefined, 'x')
      .chain((reject) =>
        reject === undefined
          ? fc.constant(undefined)
          : fc.constantFrom(apiError(429), apiError(400), new TypeError('odd')),
      ),
  },
  { requiredKeys: ['parts'] },
)

interface Trouble {
  readonly answers: readonly ScriptedAnswer[]
  /** Microtasks before each abort. */
  readonly aborts: readonly number[]
  readonly badFlushes: readonly number[]
  /** The nth call of a hook throws. */
  readonly badHook: number
  /** A listener of the session vetoes the nth event. */
  readonly badAppend: number
  readonly steerAt: number
  readonly parallel: number
}

const anyTrouble: fc.Arbitrary<Trouble> = fc.record({
  answers: fc.array(anyAnswer, { minLength: 1, maxLength: 8 }),
  aborts: fc.array(fc.nat(160), { maxLength: 3 }),
  badFlushes: fc.array(fc.nat(12), { maxLength: 1 }),
  badHook: fc.nat(40),
  badAppend: fc.nat(120),
  steerAt: fc.nat(200),
  parallel: fc.integer({ min: 1, max: 3 }),
})

async function ticks(count: number): Promise<void> {
  for (let at = 0; at < count; at += 1) await Promise.resolve()
}

const veto = new Error('a listener does not like this event')

function troubled({ answers, badFlushes, badHook, badAppend, parallel }: Trouble): Rig {
  let flushes = 0
  let hooks = 0
  let appends = 0
  const one = rig({
    session: Session.create({ now: () => 1_700_000_000_000 }),
    tools,
    system: 'Be brief.',
    maxSteps: 6,
    maxParallelTools: parallel,
    retry: { maxAttempts: 2 },
    script: (_, index) => answers[index % answers.length] ?? 'Done.',
    flush: async () => {
      await Promise.resolve()
      flushes += 1
      if (badFlushes.includes(flushes)) throw new Error('the disk is full')
    },
  })
  const perhaps = async (): Promise<void> => {
    await Promise.resolve()
    hooks += 1
    if (hooks === badHook) throw new Error('a hook has a bad day')
  }
  for (const hook of [
    'agent/pre-step',
    'agent/request',
    'agent/request-error',
    'tools/pre-execute',
    'tools/result',
  ] as const)
    one.loop.on(hook, perhaps)
  one.session.on('internal/dispatch', () => {
    appends += 1
    if (appends === badAppend) throw veto
  })
  return one
}

/**
 * Aborts at any await point, failing flushes, hooks, models and tools, a vetoed event: each turn ends closed and valid,
 * and no input is lost or read twice but that of a `send` that was told so.
 */
export function describeLoopLaws(runs: number): void {
  console.info(`loop laws: ${String(runs)} runs, PALIMPSEST_SEED=${String(seed)}`)
  it(`whatever fails and whenever it is aborted, every turn is closed and valid, seed ${String(seed)}`, async () => {
    const law = fc.asyncProperty(anyTrouble, async (trouble) => {
      const one = troubled(trouble)
      const sent = ['first', 'second', 'third'].map((text) => one.loop.send(text))
      for (const count of trouble.aborts) {
        await ticks(count)
        one.loop.abort('enough')
      }
      await ticks(trouble.steerAt)
      one.loop.steer('and this')
      one.loop.inject('by the way')
      const settled = await Promise.allSettled(sent)
      await one.idle()
      const refused = ['first', 'second', 'third'].filter((_, at) => settled[at]?.status === 'rejected')
      for (const outcome of settled) if (outcome.status === 'rejected') expect(outcome.reason).toBe(veto)
      expect(refused.length).toBeLessThan(2)
      const turns = settled.flatMap((outcome) => (outcome.status === 'fulfilled' ? [outcome.value.turn] : []))
      expect(turns).toEqual(turns.toSorted((a, b) => a - b))
      expect(one.loop.isRunning).toBe(false)
      const answered = [...one.of('assistant/message'), ...one.of('assistant/attempt')].map(
        ({ data }) => data.requestSeq,
      )
      const starts = one.of('request/start').map(({ seq }) => seq)
      expect(new Set(answered).size).toBe(answered.length)
      expect(starts).toEqual(expect.arrayContaining(answered))
      // The veto may have hit the very event that answers a request.
      expect(starts.length - answered.length).toBeLessThan(trouble.badAppend <= one.session.length + 1 ? 2 : 1)
      const said = one.of('user/message').map(({ data }) => data.content[0])
      for (const text of ['first', 'second', 'third']) {
        const count = said.filter((block) => block?.type === 'text' && block.text === text).length
        if (refused.includes(text)) expect(count).toBeLessThan(2)
        else expect(count).toBe(1)
      }
      // What a refused turn left waits for the next one, which may be the one that the veto hits.
      await one.send('last').catch((error: unknown) => expect(error).toBe(veto))
      if (trouble.badAppend <= one.session.length) await one.send('the very last')
      expect(one.of('user/message').filter(({ data }) => JSON.stringify(data).includes('"and this"'))).toHaveLength(1)
    })
    await fc.assert(law, { numRuns: runs, seed })
  })
}
