import { basicCompaction, extractSummarizer } from '@palimpsest/compact-basic'
import { type EventOf, type SessionEvent, deriveMessagesAt, reconstructRequest, sessionSeq } from '@palimpsest/session'
import type { ReceivedRequest, ServedAnswer, ServedBlock, ServedToolCall } from '@palimpsest/testkit'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import type { AgentLoop } from '../../src/index.ts'
import { type WireTarget, deepseek, fields, haiku, list, opus, responses, sonnet, targets } from './targets.ts'
import { pixel } from './tools.ts'
import { WireSession, temporaryRoot } from './wire-session.ts'

let root: Awaited<ReturnType<typeof temporaryRoot>>
const opened: WireSession[] = []
let count = 0

beforeAll(async () => {
  root = await temporaryRoot()
})
afterAll(() => root.dispose())

/** No test can leave the laws out: nothing refused but what is too large, every request in the log. */
afterEach(async () => {
  for (const one of opened.splice(0)) {
    await one.end()
    expect(one.problems).toEqual([])
    for (const server of one.servers) {
      expect(server.refusals.filter(({ rule }) => !['A32', 'OC13', 'OR15', 'DS8'].includes(rule))).toEqual([])
      expect(server.dropped).toEqual([])
    }
  }
})

type Script = (request: ReceivedRequest, n: number) => ServedAnswer | Promise<ServedAnswer>

async function start(
  target: WireTarget,
  script: Script,
  options: { readonly contextTokens?: number } = {},
): Promise<WireSession> {
  const one = new WireSession(root.path, `${target.name} ${(count += 1)}`)
  opened.push(one)
  await one.serve(target, { script, ...options })
  return one
}

const text = (value: string): ServedBlock => ({ type: 'text', text: value })
const read = (target: WireTarget, lines = 1): ServedToolCall => ({
  type: 'tool-call',
  name: target.toolNames['fs.read'] ?? '',
  input: { path: 'a.ts', lines },
})
const thought = (target: WireTarget, request: ReceivedRequest, n: number): ServedBlock[] =>
  target.thinks(request.body) ? [{ type: 'thinking', text: [`thought ${n}`, 'and on'] }] : []

/** Two steps with two calls each and one without, again and again. */
function working(target: WireTarget, lines = 1): (...asked: Parameters<Script>) => ServedAnswer {
  return (request, n) => ({
    blocks: [
      ...thought(target, request, n),
      text(`step ${n}`),
      ...(n % 3 < 2 ? [read(target, lines), read(target)] : []),
    ],
  })
}

function eventsOf<Type extends SessionEvent['type']>({ session }: WireSession, type: Type): EventOf<Type>[] {
  return session.events.filter((event): event is EventOf<Type> & SessionEvent => event.type === type)
}

const completed = { reason: { kind: 'completed' } }
const reasoningSent = (one: WireSession): number[] =>
  one.recorder.sent.map(({ target, body }) => target.reasoning(body).length)
const thinkingAsked = (one: WireSession): unknown[] =>
  one.recorder.sent.map(({ body }) => fields(body['thinking'])['type'])

describe.each(targets)('the loop on $name', (target) => {
  it('gets a text, with its usage and the ids of the response', async () => {
    const one = await start(target, () => ({ blocks: [text('Grüße 😀')], usage: { input: 11, output: 5 } }))
    const loop = await one.open(target)
    expect(await loop.send('hello')).toMatchObject({ ...completed, text: 'Grüße 😀', steps: 1 })
    const [message] = eventsOf(one, 'assistant/message')
    expect(message?.data).toMatchObject({ usage: { inputTokens: 11, outputTokens: 5 } })
    expect(message?.data.message.source).toMatchObject({ replayState: { response: { id: expect.any(String) } } })
  })

  it('runs two tools of one answer and sends both results', async () => {
    const one = await start(target, working(target))
    const loop = await one.open(target)
    expect(await loop.send('read')).toMatchObject({ ...completed, text: 'step 2', steps: 3 })
    expect(one.ledger.runs).toBe(4)
    expect(eventsOf(one, 'tool/result').every(({ data }) => data.error === undefined)).toBe(true)
  })

  it('goes on after an abort in the middle of a stream', async () => {
    const one = await start(target, (_, n) =>
      n === 0
        ? { blocks: [text(`${'Many words. '.repeat(6)}¶${' And more.'.repeat(20)}`), read(target)] }
        : { blocks: [text('Here.')] },
    )
    const loop = await one.open(target)
    one.recorder.onChunk = (received) => {
      if (received.includes('¶')) setImmediate(() => loop.abort('enough'))
    }
    expect(await loop.send('talk')).toMatchObject({ reason: { kind: 'aborted', cause: 'enough' } })
    one.recorder.onChunk = () => undefined
    await loop.send('again')
    await one.resume()
    expect(await (await one.open(target)).send('and again')).toMatchObject(completed)
    expect(one.ledger.runs).toBe(0)
    expect(eventsOf(one, 'turn/end').map(({ data }) => data.reason.kind)).toEqual(['aborted', 'completed', 'completed'])
  })

  it('tries again after a refusal that passes, an error in the stream, a cut and an early end', async () => {
    const blocks = [text('Many words. '.repeat(10))]
    const answers: ServedAnswer[] = [
      { failure: 'rate-limit', retryAfterMs: 2000 },
      { failure: 'overloaded' },
      { blocks, break: { how: 'error', after: 5 } },
      { blocks },
      { blocks, break: { how: 'cut', after: 5 } },
      { blocks, break: { how: 'end', after: 5 } },
      { blocks, break: { how: 'cut', after: 0 } },
      { blocks },
    ]
    const one = await start(target, (_, n) => answers[n] ?? { failure: 'unauthorized' })
    const loop = await one.open(target, { retry: { initialDelayMs: 10 } })
    expect(await loop.send('one')).toMatchObject(completed)
    expect(one.waits).toEqual([2000, 20, 40])
    expect(await loop.send('two')).toMatchObject(completed)
    expect(one.waits.slice(3)).toEqual([10, 20, 40])
    const attempts = eventsOf(one, 'assistant/attempt')
    expect(attempts).toHaveLength(6)
    expect(attempts.every(({ data }) => data.failure !== undefined && data.requestSeq !== undefined)).toBe(true)
    expect(attempts.filter(({ data }) => data.stream.length > 0).length).toBeGreaterThanOrEqual(3)
    // A failure that lasts is not tried again.
    const { reason } = await loop.send('three')
    expect(reason).toMatchObject({ kind: 'error', failure: { code: 'request/failed', statusCode: 401 } })
    expect(one.server(target).requests).toHaveLength(9)
  })

  it('compacts when the provider says that the prompt is too large, and sends it again', async () => {
    const one = await start(target, working(target, 60), { contextTokens: 2400 })
    const loop = await one.open(target)
    compacting(one, loop)
    for (const prompt of ['one', 'two', 'three']) expect(await loop.send(prompt)).toMatchObject(completed)
    const { refusals } = one.server(target)
    expect(refusals.length).toBeGreaterThan(0)
    expect(refusals.every(({ rule }) => target.overflow.includes(rule))).toBe(true)
    const failures = eventsOf(one, 'assistant/attempt').map(({ data }) => data.failure)
    expect(failures).toEqual(refusals.map(() => expect.objectContaining({ code: 'request/overflow' })))
    expect(one.session.surface.replaceGeneration).toBeGreaterThan(0)
  })

  it('sends the images of tool results in the form that the provider takes, from the bytes on disk', async () => {
    const shot = (fails: boolean): ServedBlock => ({ type: 'tool-call', name: 'shot', input: { fails } })
    const one = await start(target, (_, n) => ({ blocks: n === 0 ? [shot(false), shot(true)] : [text('Seen.')] }))
    await (await one.open(target)).send('look')
    await one.resume()
    await (await one.open(target)).send('and again')
    const base64 = Buffer.from(pixel).toString('base64')
    const found = one.recorder.sent.map(({ text: sent = '' }) => sent.split(base64).length - 1)
    expect(found).toEqual(target === deepseek ? [0, 0, 0] : [0, 2, 2])
  })

  it('delivers a late result once, and a steer in the turn that runs', async () => {
    const slow: ServedBlock = { type: 'tool-call', name: 'slow', input: {} }
    const one = await start(target, (_, n) => ({ blocks: n === 0 ? [slow] : [text(`answer ${n}`)] }))
    const loop = await one.open(target)
    one.session.on('session/event', ({ type }) => {
      if (type === 'tool/call') loop.steer('faster')
    })
    expect(await loop.send('wait')).toMatchObject({ ...completed, steps: 2 })
    one.gate.release()
    await new Promise(setImmediate)
    await loop.send('and?')
    await loop.send('and?')
    const said = one.recorder.sent.map(({ text: sent = '' }) => [
      sent.includes('faster'),
      sent.split('at last').length - 1,
    ])
    expect(said).toEqual([
      [false, 0],
      [true, 0],
      [true, 1],
      [true, 1],
    ])
  })

  it('changes, clears and sets the system prompt in the middle of a session', async () => {
    const one = await start(target, working(target))
    for (const system of ['Be brief.', 'Be long.', '', 'Be brief.']) {
      expect(await (await one.open(target, { system })).send('go')).toMatchObject(completed)
    }
    const prompts = one.recorder.sent.map(({ text: sent = '' }) => /Be (?:brief|long)\./.exec(sent)?.[0])
    expect(prompts).toEqual(
      ['Be brief.', 'Be long.', undefined, 'Be brief.'].flatMap((prompt) => [prompt, prompt, prompt]),
    )
  })
})

/** A policy that believes in an endless window: only the provider says that it is not. */
function compacting(one: WireSession, loop: AgentLoop, keepRecentTokens = 300): ReturnType<typeof basicCompaction> {
  const compaction = basicCompaction({
    session: one.session,
    summarize: extractSummarizer(),
    budget: { tokens: 1_000_000 },
    keepRecentTokens,
    summaryTokens: 100,
    flush: () => one.flush(),
  })
  compaction.attach(loop)
  return compaction
}

describe('reasoning', () => {
  const carriers = targets.filter(({ kind }) => kind !== 'openai-chat')

  it.each([...carriers, haiku, sonnet])('of $name goes back over tool loops, turns and a resume', async (target) => {
    const one = await start(target, working(target))
    const loop = await one.open(target)
    for (const prompt of ['one', 'two']) expect(await loop.send(prompt)).toMatchObject(completed)
    await one.resume()
    expect(await (await one.open(target)).send('three')).toMatchObject(completed)
    expect(reasoningSent(one)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8])
  })

  it('of OpenAI Responses goes back as encrypted items that were never stored', async () => {
    const one = await start(responses, working(responses))
    await (await one.open(responses)).send('one')
    const [, second] = one.recorder.sent
    expect(second?.body).toMatchObject({ store: false, include: ['reasoning.encrypted_content'] })
    expect(list(second?.body['input']).map((item) => fields(item)['type'])).toContain('reasoning')
    expect(second?.text).not.toContain('item_reference')
  })

  it('of DeepSeek stands on every assistant message', async () => {
    const one = await start(deepseek, (request, n) => ({
      blocks: [
        ...(n % 2 === 0 ? thought(deepseek, request, n) : []),
        text(`${n}`),
        ...(n % 3 < 2 ? [read(deepseek)] : []),
      ],
    }))
    const loop = await one.open(deepseek)
    for (const prompt of ['one', 'two']) await loop.send(prompt)
    const assistants = list(one.recorder.sent.at(-1)?.body['messages'])
      .map(fields)
      .filter(({ role }) => role === 'assistant')
    expect(assistants.map(({ reasoning_content: reasoning }) => typeof reasoning)).toEqual(
      assistants.map(() => 'string'),
    )
  })

  it.each([
    { target: opus, inLoop: 'adaptive' },
    { target: haiku, inLoop: 'disabled' },
    { target: sonnet, inLoop: 'disabled' },
  ])('of $target.name stays behind past a compaction inside a tool loop', async ({ target, inLoop }) => {
    const one = await start(target, working(target, 30))
    const loop = await one.open(target)
    const compaction = compacting(one, loop)
    await loop.send('one')
    const off = loop.on('agent/pre-step', async ({ step }) => {
      if (step === 3) expect(await compaction.compactNow()).toMatchObject({ kind: 'compacted' })
    })
    await loop.send('two')
    off()
    // The last exchange of the open loop stood, and its thinking stayed behind with the prefix that it was made on.
    expect(reasoningSent(one)).toEqual([0, 1, 2, 3, 4, 0])
    expect(thinkingAsked(one).at(-1)).toBe(inLoop)
    await loop.send('three')
    expect(reasoningSent(one).slice(6)).toEqual([0, 0, 0])
    // Once nothing stands that was made before a break, new reasoning goes back again.
    const [, first = 0] = one.session.surface.nodes
    const all = await compaction.compactRegion(sessionSeq(first), sessionSeq(one.session.surface.nodes.at(-1) ?? 0))
    expect(all).toMatchObject({ kind: 'compacted' })
    await one.resume()
    await (await one.open(target)).send('four')
    expect(reasoningSent(one).slice(9)).toEqual([0, 1, 2])
    expect(thinkingAsked(one).slice(9)).toEqual(thinkingAsked(one).slice(0, 3))
  })

  describe.each([
    { what: 'a message that was appended', kept: [3, 5], land: (one: WireSession) => one.say('by the way') },
    { what: 'a replacement', kept: [3, 3], land: (one: WireSession) => one.redact() },
    {
      what: 'a compaction',
      kept: [0, 0],
      land: async (_: WireSession, compaction: ReturnType<typeof compacting>) => {
        expect(await compaction.compactNow()).toMatchObject({ kind: 'compacted' })
      },
    },
  ])('past $what while its answer streamed', ({ kept, land }) => {
    it.each([
      { target: opus, at: 3 },
      { target: opus, at: 5 },
      { target: haiku, at: 3 },
      { target: sonnet, at: 3 },
      { target: responses, at: 3 },
      { target: responses, at: 5 },
    ])('stays behind, and $target.name takes what follows request $at', async ({ target, at }) => {
      const one = await start(target, async (request, n) => {
        if (n === at) await land(one, compaction)
        return working(target, 30)(request, n)
      })
      const loop = await one.open(target)
      const compaction = compacting(one, loop, 0)
      for (const prompt of ['one', 'two', 'three']) expect(await loop.send(prompt)).toMatchObject(completed)
      await one.resume()
      expect(await (await one.open(target)).send('four')).toMatchObject(completed)
      // What the model signed it on is what was sent to it, without what landed since.
      const answered = eventsOf(one, 'assistant/message')[at]
      const { messages } = reconstructRequest(one.session.events, answered?.seq ?? -1)
      expect(messages).toEqual(one.recorder.sent[at]?.messages)
      expect(messages).toEqual(deriveMessagesAt(one.session.events, (answered?.data.requestSeq ?? 0) - 1))
      const sent = reasoningSent(one)
      expect(sent.slice(0, at + 1)).toEqual(Array.from({ length: at + 1 }, (_, n) => n))
      // Of what was signed before, what stands on what it was signed on; nothing where thinking can be off in a tool loop.
      const isOff = thinkingAsked(one)[at + 1] === 'disabled'
      expect(sent[at + 1]).toBe(isOff ? 0 : kept[at === 3 ? 0 : 1])
    })
  })

  it('of one provider stays behind when another one takes over, and goes back to its own', async () => {
    const one = await start(opus, working(opus))
    const others = targets.filter((target) => target !== opus)
    for (const target of others) {
      await one.serve(target, {
        script: (request, n) => {
          const { blocks } = working(target)(request, n) as { readonly blocks: readonly ServedBlock[] }
          const ids = ['', 'functions.read:0', 'x'.repeat(70)]
          const odd = (block: ServedBlock, at: number): ServedBlock =>
            block.type === 'tool-call' && target.kind === 'compatible'
              ? { ...block, id: ids[(n + at) % 3] ?? '' }
              : block
          return { blocks: blocks.map(odd) }
        },
      })
    }
    const order = [opus, ...others, opus, ...others.toReversed(), opus]
    for (const target of order) {
      expect(await (await one.open(target)).send('go on')).toMatchObject(completed)
      await one.resume()
    }
    const first = order.map((_, at) => reasoningSent(one)[at * 3])
    expect(first.slice(0, 5)).toEqual([0, 0, 0, 0, 0])
    expect(first[5]).toBeGreaterThan(0)
  })
})
