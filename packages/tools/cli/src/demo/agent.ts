import { AgentLoop, type AgentTool, type ToolContext } from '@palimpsest/agent-loop'
import { languageModelAdapter } from '@palimpsest/provider-messages'
import type { Session } from '@palimpsest/session'
import type { SessionPersistence } from '@palimpsest/session-persistence'
import { type ModelCall, type ScriptedAnswer, ScriptedModel } from './scripted-model.ts'

export interface DemoAgent {
  readonly session: Session
  readonly store: SessionPersistence
  readonly answers: readonly ScriptedAnswer[]
  /** Resolves when everything appended so far is durable. */
  readonly flush: () => Promise<void>
  /** Hears what the model is given. */
  readonly hear: (call: ModelCall) => void
  /** What the shell does with a command. */
  readonly shell: (command: string, context: ToolContext) => Promise<string>
}

/** The agent of the demonstration: the loop that a real one has, on a model without a network. */
export function demoAgent({ session, store, answers, flush, hear, shell }: DemoAgent): AgentLoop {
  const attachments = store.attachments(session.id)
  const bash: AgentTool = {
    name: 'Bash',
    description: 'Runs a command.',
    inputSchema: { type: 'object', properties: { command: { type: 'string' } }, required: ['command'] },
    execute: (input, context) => shell((input as { readonly command: string }).command, context),
  }
  return new AgentLoop({
    session,
    model: new ScriptedModel(answers, hear),
    adapter: languageModelAdapter({ attachments }),
    system: 'You look after a weather station.',
    tools: [bash],
    flush,
    attachments,
  })
}
