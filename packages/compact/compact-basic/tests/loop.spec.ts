import { defineTool } from '@palimpsest/agent-loop'
import type { CompactionOutcome } from '@palimpsest/compact'
import { languageModelAdapter } from '@palimpsest/provider-messages'
import type { AttachmentRef } from '@palimpsest/session'
import { describe, expect, it } from 'vitest'
import { basicCompaction, extractSummarizer, modelSummarizer } from '@palimpsest/compact-basic'
import { ScriptedModel } from '@palimpsest/testkit'
import { TooLarge, adapter, expectRebuilt, looped, requestsOf } from './looped.ts'
import { expectValid, kinds } from './support.ts'

const reads = (lines: number): { parts: [{ call: string; input: { lines: number } }] } => ({
  parts: [{ call: 'read', input: { lines } }],
})

describe('the agent loop with compaction attached', () => {
  it('compacts before a step that goes over the high water mark, in the middle of a turn, and goes on', async () => {
    const outcomes: CompactionOutcome[] = []
    // Six steps with a tool, then an answer; three turns.
    const one = looped((_, index) => (index % 7 === 6 ? 'done' : reads(150)))
    const compaction = basicCompaction({
      session: one.session,
      summarize: extractSummarizer(),
      budget: { tokens: 3000 },
      keepRecentTokens: 400,
      onOutcome: (outcome) => outcomes.push(outcome),
    })
    compaction.attach(one.loop)
    for (let turn = 1; turn <= 3; turn += 1) {
      expect(await one.loop.send(`Task ${turn}`)).toMatchObject({ reason: { kind: 'completed' }, steps: 7 })
    }
    expect(kinds(outcomes)).toContain('compacted')
    expect(new Set(kinds(outcomes))).toEqual(new Set(['compacted']))
    const { lists, rewritten } = requestsOf(one.session)
    for (const list of lists) expect(compaction.meter.measure(list).tokens).toBeLessThan(3000)
    expect(rewritten).toBe(outcomes.length)
    expect(JSON.stringify(lists.at(-1))).toContain('read ×')
    expectValid(one.session)
    await expectRebuilt(one)
  })

  it('compacts after the provider refused a request as too large, sends it again, and remembers the size', async () => {
    const window = 1500
    const one = looped((options, index) => {
      if (JSON.stringify(options.prompt).length > window * 4) return { rejects: new TooLarge('too large') }
      return index % 5 === 4 ? 'done' : reads(150)
    })
    // The policy believes in a window that the provider does not have.
    const compaction = basicCompaction({
      session: one.session,
      summarize: extractSummarizer(),
      budget: { tokens: 200_000 },
      keepRecentTokens: 300,
    })
    compaction.attach(one.loop)
    for (let turn = 1; turn <= 8; turn += 1) {
      expect(await one.loop.send(`Task ${turn}`)).toMatchObject({ reason: { kind: 'completed' } })
    }
    const attempts = one.session.events.filter(({ type }) => type === 'assistant/attempt')
    expect(attempts.length).toBeGreaterThanOrEqual(1)
    // Once refused, the threshold goes first.
    expect(attempts.length).toBeLessThanOrEqual(2)
    expect(compaction.preview().budget.tokens).toBeLessThan(200_000)
    expectValid(one.session)
    await expectRebuilt(one)
  })

  it('ends the turn with an error that names the largest entry where compaction cannot help, and works again after that', async () => {
    const one = looped((_, index) => (index === 0 ? reads(3000) : 'done'))
    const compaction = basicCompaction({
      session: one.session,
      summarize: extractSummarizer(),
      budget: { tokens: 2000 },
      keepRecentTokens: 300,
    })
    const detach = compaction.attach(one.loop)
    const { reason } = await one.loop.send('Read all of it')
    expect(reason).toMatchObject({ kind: 'error', failure: { code: 'hook/failed' } })
    expect(JSON.stringify(reason)).toMatch(/event \d+ \(recent, \d+ tokens\)/)
    expect(one.model.requests).toHaveLength(1)
    expectValid(one.session)
    // Now there is something else to answer, and the new turn armed the engine again.
    expect(await one.loop.send('Never mind')).toMatchObject({ reason: { kind: 'completed' } })
    detach()
  })

  it('hits the cache: the model that summarises sees what the model of the session saw, to the byte', async () => {
    const one = looped((_, index) => (index % 4 === 3 ? 'done' : reads(200)))
    const summarizing = new ScriptedModel(() => ({ parts: ['They read files.'], usage: { input: 10, output: 3 } }))
    const compaction = basicCompaction({
      session: one.session,
      summarize: modelSummarizer({ model: summarizing, adapter, prefix: 'replay' }),
      budget: { tokens: 2500 },
      keepRecentTokens: 300,
    })
    compaction.attach(one.loop)
    for (let turn = 1; turn <= 3; turn += 1) await one.loop.send(`Task ${turn}`)
    expect(summarizing.requests.length).toBeGreaterThan(0)
    for (const { prompt, tools } of summarizing.requests) {
      const shared = JSON.stringify(prompt.slice(0, -1)).slice(0, -1)
      const isPrefix = one.model.requests.some((request) => JSON.stringify(request.prompt).startsWith(shared))
      expect(isPrefix).toBe(true)
      expect(tools).toEqual(one.model.requests[0]?.tools)
    }
  })

  it('aborts the summariser with the turn', async () => {
    const one = looped((_, index) => (index % 4 === 3 ? 'done' : reads(200)))
    let aborted = false
    const compaction = basicCompaction({
      session: one.session,
      summarize: ({ signal }) =>
        new Promise((_, reject) => {
          signal.addEventListener('abort', () => {
            aborted = true
            reject(new Error('aborted'))
          })
          one.loop.abort('enough')
        }),
      budget: { tokens: 1000 },
      keepRecentTokens: 100,
    })
    compaction.attach(one.loop)
    expect(await one.loop.send('Task')).toMatchObject({ reason: { kind: 'aborted' } })
    expect(aborted).toBe(true)
    expectValid(one.session)
  })
})

describe('a model of the V3 interface', () => {
  const providers = ['scripted.chat', 'anthropic.messages', 'openai.responses']
  it.each(providers)('gets for a summary exactly the prompt that the loop sent, images too: %s', async (provider) => {
    const attachment: AttachmentRef = { attachmentId: `sha256:${'0'.repeat(64)}`, mediaType: 'image/png', bytes: 3 }
    const image = { type: 'image', attachment } as const
    const shot = defineTool({
      name: 'shot',
      inputSchema: { type: 'object' },
      execute: () => ({ content: [{ type: 'text', text: 'See: '.repeat(300) }, image] }),
    })
    const scripted = new ScriptedModel([{ parts: [{ call: 'shot' }] }, 'A picture.', 'Two pictures.'], { provider })
    const model = scripted.v3()
    const pictures = languageModelAdapter({ image: () => 'AAEC' })
    const { session, loop } = looped([], { model, adapter: pictures, tools: [shot] })
    await loop.send([{ type: 'text', text: 'What is this?' }, image])
    const compaction = basicCompaction({
      session,
      summarize: modelSummarizer({ model, adapter: pictures, prefix: 'replay' }),
      budget: { tokens: 100_000 },
    })
    expect((await compaction.compactNow()).kind).toBe('compacted')
    const [, sent, summarised] = scripted.requests.map(({ prompt }) => prompt)
    expect(JSON.stringify(sent).match(/"data":"AAEC"/g)).toHaveLength(2)
    expect(sent?.[1]?.content).toContainEqual({ type: 'file', mediaType: 'image/png', data: 'AAEC' })
    expect(summarised?.slice(0, sent?.length)).toStrictEqual(sent)
    expect(summarised?.length).toBeGreaterThan(sent?.length ?? 0)
    expectValid(session)
  })
})
