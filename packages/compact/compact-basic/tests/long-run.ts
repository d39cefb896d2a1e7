import { AgentLoop, type TurnResult, defineTool } from '@palimpsest/agent-loop'
import { type CompactionOutcome, TokenMeter, compactionEvents } from '@palimpsest/compact'
import { basicCompaction, extractSummarizer } from '@palimpsest/compact-basic'
import { languageModelAdapter } from '@palimpsest/provider-messages'
import { type Message, Session, coreEvents, isSurfaceType } from '@palimpsest/session'
import { ScriptedModel, type ScriptedAnswer, seededRandom } from '@palimpsest/testkit'
import { resultPruning } from '@palimpsest/tool-result-pruner'
import { z } from 'zod'
import { countReads } from './log-reads.ts'
import { type PromptSize, sizeOfPrompt } from './prompt-size.ts'

export const budget = { tokens: 20_000, bytes: 64_000 }
const [highWater, lowWater] = [0.8, 0.4]
const pruning = { maxBytes: 2000, keepRecent: 3, highWater: 28_000, lowWater: 14_000 }

export interface LongRunOptions {
  /** Surface events in the log at the end, about. */
  readonly messages: number
  /** Called once each time the log has this share of them. */
  readonly samples?: readonly number[]
  readonly onSample?: (messages: number, session: Session) => void | Promise<void>
}

/** What a run did, measured from outside of the meter and the policy. */
export interface LongRun {
  readonly session: Session
  readonly requests: number
  /** The largest request that was sent. */
  readonly largest: PromptSize
  /** Derived lists of requests that are no extension of the one before. */
  readonly rewritten: number
  /** Times between two requests at which the surface was replaced somewhere. */
  readonly batches: number
  /** How many batches there may be: as often as what came in fills the gap between the marks again. */
  readonly bound: number
  readonly compactions: number
  readonly pruned: number
  /** Events read of the log between two requests, at most: in the first half of the run, and in all of it. */
  readonly mostReads: { readonly firstHalf: number; readonly whole: number }
  /** Turns and compactions that did not go well. */
  readonly problems: readonly unknown[]
}

const alphabets = ['lorem ipsum dolor ', '0123, 4567; ', 'приве́т, мир ', '日本語の文']
/** The results of the tools: most short, some long, a few far over what pruning leaves of one. */
const read = defineTool({
  name: 'read',
  description: 'Reads some lines.',
  inputSchema: z.object({ length: z.number(), alphabet: z.number() }),
  execute: ({ length, alphabet }) => ''.padEnd(length, alphabets[alphabet]),
})

function answers(random: () => number): () => ScriptedAnswer {
  const below = (limit: number): number => Math.floor(random() * limit)
  return () => {
    if (random() < 0.15) return { parts: [`So it is: ${'word '.repeat(below(200))}`] }
    return {
      parts: Array.from({ length: 1 + below(2) }, () => {
        const length = below(20) === 0 ? 8000 + below(4000) : below(random() < 0.5 ? 200 : 1500)
        const alphabet = length > 4000 ? below(2) : below(alphabets.length)
        return { call: 'read', input: { length, alphabet } }
      }),
    }
  }
}

/** A scripted run of the loop with automatic compaction and result pruning, under one budget. */
export async function longRun({ messages, samples = [], onSample }: LongRunOptions): Promise<LongRun> {
  let [clock, ids, requests, surfaced] = [1000, 0, 0, 0]
  let largest: PromptSize = { tokens: 0, bytes: 0 }
  const session = Session.create({
    id: 'long',
    createdAt: clock,
    now: () => (clock += 10),
    vocabulary: coreEvents.extend(compactionEvents),
  })
  const answer = answers(seededRandom(7))
  const model = new ScriptedModel((options) => {
    requests += 1
    const { tokens, bytes } = sizeOfPrompt(options)
    largest = { tokens: Math.max(largest.tokens, tokens), bytes: Math.max(largest.bytes, bytes) }
    // What the model keeps for tests is requests times history.
    model.requests.length = 0
    return answer()
  })
  const loop = new AgentLoop({
    session,
    model,
    adapter: languageModelAdapter(),
    system: 'You are terse.',
    tools: [read],
    createId: () => `id-${(ids += 1)}`,
    now: () => clock,
  })
  const problems: unknown[] = []
  const outcomes: CompactionOutcome[] = []
  resultPruning({ results: pruning }).attach(loop)
  basicCompaction({
    session,
    summarize: extractSummarizer({ maxChars: 3000 }),
    budget,
    highWater,
    lowWater,
    onOutcome: (outcome) => void outcomes.push(outcome),
  }).attach(loop)

  const lists = new Lists()
  const counter = countReads(session)
  const mostReads = { firstHalf: 0, whole: 0 }
  loop.on('agent/request', ({ messages: list }) => {
    lists.see(list, session.surface.replaceGeneration)
    mostReads.whole = Math.max(mostReads.whole, counter.reads)
    if (surfaced < messages / 2) mostReads.firstHalf = mostReads.whole
    counter.reads = 0
  })
  session.on('session/event', ({ type }) => void (isSurfaceType(type) && (surfaced += 1)))
  const waiting = [...samples]
  for (let turn = 1; surfaced < messages; turn += 1) {
    const { reason }: TurnResult = await loop.send(`Task ${turn}: ${'please '.repeat(20)}`)
    if (reason.kind !== 'completed') problems.push(reason)
    for (; surfaced >= messages * (waiting[0] ?? Infinity); waiting.shift()) {
      await onSample?.(surfaced, session)
      // What the sample read is not the run's.
      counter.reads = 0
    }
  }
  problems.push(...outcomes.filter(({ kind }) => kind !== 'compacted'))
  return {
    session,
    requests,
    largest,
    rewritten: lists.rewritten,
    batches: lists.batches,
    bound: boundOf(session),
    compactions: outcomes.filter(({ kind }) => kind === 'compacted').length,
    pruned: session.surface.replaceGeneration - outcomes.length,
    mostReads,
    problems,
  }
}

/** Follows the derived lists of the requests. */
class Lists {
  rewritten = 0
  batches = 0
  #before: readonly Message[] = []
  #generation = 0

  see(list: readonly Message[], generation: number): void {
    if (this.#before.some((message, at) => list[at] !== message)) this.rewritten += 1
    if (generation !== this.#generation) this.batches += 1
    this.#before = list
    this.#generation = generation
  }
}

/**
 * A compaction comes down from above the high mark of tokens or bytes to below the low one, so that much came in before the
 * next. Pruning frees the gap between its own marks, or is the first of its surface, which only a compaction clears.
 */
function boundOf(session: Session): number {
  const meter = new TokenMeter(session)
  let [tokens, bytes, results] = [0, 0, 0]
  for (const { seq, type, surfaceOp } of session.events) {
    if (surfaceOp !== 'append') continue
    const size = meter.entry(seq)
    tokens += size.tokens
    bytes += size.bytes
    if (type === 'tool/result') results += size.bytes
  }
  const gap = highWater - lowWater
  const compactions = Math.ceil(tokens / (budget.tokens * gap)) + Math.ceil(bytes / (budget.bytes * gap))
  return 2 * compactions + Math.ceil(results / (pruning.highWater - pruning.lowWater))
}
