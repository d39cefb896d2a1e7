import { closeSync, fsyncSync, openSync, readFileSync, writeSync } from 'node:fs'
import { type CompactionOutcome, compactionEvents } from '@palimpsest/compact'
import { type BasicCompaction, basicCompaction } from '@palimpsest/compact-basic'
import { languageModelAdapter } from '@palimpsest/provider-messages'
import { type Session, coreEvents, sessionId } from '@palimpsest/session'
import { ScriptedModel } from '@palimpsest/testkit'
import { z } from 'zod'
import { AgentLoop, type AgentTool, type TurnResult, defineTool } from '../../src/index.ts'
import { obedientScript, summarize } from './script.ts'

export const id = sessionId('crash')
export const vocabulary = coreEvents.extend(compactionEvents)

/** A body that ran, as it wrote it down itself: outside of the log, and at once. */
export interface BodyRun {
  readonly callId: string
  readonly effect: string
}

/** Bodies that ran, in the order in which they did. */
export function bodiesOf(effectsPath: string): BodyRun[] {
  return readFileSync(effectsPath, { encoding: 'utf8', flag: 'a+' })
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as BodyRun)
}

function actingTool(effectsPath: string): AgentTool {
  return defineTool({
    name: 'act',
    inputSchema: z.object({ effect: z.string() }),
    execute: async ({ effect }, { callId }) => {
      const file = openSync(effectsPath, 'a')
      writeSync(file, `${JSON.stringify({ callId, effect } satisfies BodyRun)}\n`)
      fsyncSync(file)
      closeSync(file)
      // The second of two calls is done first: its result has to wait in the log.
      if (effect === '1a') await new Promise((resolve) => setImmediate(resolve))
      return `${effect} is done. `.padEnd(700, 'really ')
    },
  }) as AgentTool
}

export interface Conversation {
  readonly loop: AgentLoop
  readonly compaction: BasicCompaction
  readonly outcomes: readonly CompactionOutcome[]
}

export interface ConversationOptions {
  readonly effectsPath: string
  readonly flush: () => Promise<void>
  /** Called when a request has reached the model. */
  readonly onRequest?: () => void
}

/** The loop of the crash tests, with compaction, on a session that may have any past of theirs. */
export function converse(
  session: Session,
  { effectsPath, flush, onRequest = () => undefined }: ConversationOptions,
): Conversation {
  let ids = 0
  const lifetime = session.length
  const loop = new AgentLoop({
    session,
    flush,
    model: new ScriptedModel(obedientScript(onRequest)),
    adapter: languageModelAdapter(),
    system: 'Do what the task says.',
    tools: [actingTool(effectsPath)],
    createId: () => `id-${lifetime}-${(ids += 1)}`,
    now: () => 1_700_000_000_000,
    sleep: () => Promise.resolve(),
  })
  const outcomes: CompactionOutcome[] = []
  const compaction = basicCompaction({
    session,
    flush,
    summarize,
    // What tasks 1 and 2 leave behind is a little more than this: compaction goes before task 3.
    budget: { tokens: 1020 },
    keepRecentTokens: 0,
    summaryTokens: 40,
    highWater: 1,
    lowWater: 0.5,
    createId: () => `compaction-${session.length}`,
    onOutcome: (outcome) => void outcomes.push(outcome),
  })
  compaction.attach(loop)
  return { loop, compaction, outcomes }
}

/** Goes through the three tasks, from wherever the log is; at least one turn. */
export async function work(session: Session, loop: AgentLoop, afterTurn: () => Promise<void>): Promise<TurnResult[]> {
  const results: TurnResult[] = []
  for (const task of [1, 2, 3]) {
    const state = stateOf(session, task)
    if (state === 'done' && (task < 3 || results.length > 0)) continue
    results.push(await loop.send(state === 'new' ? `Task ${task}: do it.` : `Go on with task ${task}.`))
    await afterTurn()
  }
  return results
}

/** Whether the log holds the task's prompt, and a turn that ended well on it. */
function stateOf(session: Session, task: number): 'new' | 'begun' | 'done' {
  let current = 0
  let state: 'new' | 'begun' | 'done' = 'new'
  for (const event of session.eventsFrom(0)) {
    if (event.type === 'user/message' && event.data.source.kind === 'user') {
      current = Number(JSON.stringify(event.data.content).match(/\btask (\d)/i)?.[1])
      if (current === task) state = 'begun'
    }
    if (event.type === 'turn/end' && current === task && event.data.reason.kind === 'completed') state = 'done'
  }
  return state
}
