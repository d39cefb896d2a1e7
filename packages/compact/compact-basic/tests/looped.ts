import { AgentLoop, type AgentLoopOptions, type ModelAdapter, defineTool } from '@palimpsest/agent-loop'
import { languageModelAdapter } from '@palimpsest/provider-messages'
import { type Message, type Session, Session as Sessions, jsonEqual, reconstructRequest } from '@palimpsest/session'
import { type Script, ScriptedModel } from '@palimpsest/testkit'
import { expect } from 'vitest'
import { vocabulary } from './support.ts'

/** How a scripted provider says that a request is too large. */
export class TooLarge extends Error {}

export const adapter: ModelAdapter = {
  ...languageModelAdapter(),
  classifyError: (error) => (error instanceof TooLarge ? 'overflow' : undefined),
}

const read = defineTool({
  name: 'read',
  inputSchema: { type: 'object' },
  execute: (input) => 'line '.repeat((input as { lines?: number }).lines ?? 20),
})

export interface Looped {
  readonly session: Session
  readonly model: ScriptedModel
  readonly loop: AgentLoop
}

/** The real loop on a scripted model, with one tool. */
export function looped(script: Script, options: Partial<AgentLoopOptions> = {}): Looped {
  let clock = 1000
  const session = Sessions.create({ id: 'looped', createdAt: 1000, now: () => (clock += 10), vocabulary })
  const model = new ScriptedModel(script)
  let ids = 0
  const loop = new AgentLoop({
    session,
    model,
    adapter,
    system: 'You are terse.',
    tools: [read],
    createId: () => `id-${(ids += 1)}`,
    sleep: () => Promise.resolve(),
    ...options,
  })
  return { session, model, loop }
}

/** The messages of every request that was sent, and how many of the lists are no extension of the one before. */
export function requestsOf(session: Session): {
  readonly lists: readonly (readonly Message[])[]
  readonly rewritten: number
} {
  const { events } = session
  const starts = events.filter(({ type }) => type === 'request/start')
  const lists = starts.map(({ seq }) => reconstructRequest(events, seq).messages)
  const rewritten = lists.filter((list, at) => (lists[at - 1] ?? []).some((message, n) => list[n] !== message)).length
  return { lists, rewritten }
}

/** Every request of the log, exported again, is what the model got. */
export async function expectRebuilt({ session, model }: Looped): Promise<void> {
  const { events } = session
  const starts = events.filter(({ type }) => type === 'request/start')
  expect(model.requests).toHaveLength(starts.length)
  for (const [at, { seq }] of starts.entries()) {
    const { header, messages } = reconstructRequest(events, seq)
    const { prompt } = await adapter.toPrompt({ session, header, messages })
    expect(jsonEqual(prompt as never, model.requests[at]?.prompt as never)).toBe(true)
  }
}
