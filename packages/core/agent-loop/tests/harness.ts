import type { LanguageModelV4CallOptions, LanguageModelV4Message, LanguageModelV4Prompt } from '@ai-sdk/provider'
import {
  type EventOf,
  type Message,
  type RequestHeader,
  Session,
  type SessionEvent,
  assembleStream,
  interruptedTurnClosers,
  jsonEqual,
  reconstructRequest,
  toJson,
  traceFindings,
} from '@palimpsest/session'
import {
  type Profile,
  toAnthropic,
  toOpenAiChat,
  validateAnthropic,
  validateOpenAiChat,
} from '@palimpsest/provider-messages'
import { ScriptedModel, type Script, type ScriptedModelOptions } from '@palimpsest/testkit'
import { expect } from 'vitest'
import { AgentLoop, type AgentLoopOptions, type ModelAdapter, type TurnResult } from '../src/index.ts'

/** What the adapter was given for one request, and the seq of its `request/start`. */
export interface SeenRequest {
  readonly seq: number
  readonly header: RequestHeader
  readonly messages: readonly Message[]
}

/** An adapter for tests: texts, calls and results, and nothing of a provider's own. It keeps what it saw. */
export class TestAdapter implements ModelAdapter {
  readonly seen: SeenRequest[] = []
  readonly classifyError: NonNullable<ModelAdapter['classifyError']>

  constructor(classifyError: NonNullable<ModelAdapter['classifyError']> = () => undefined) {
    this.classifyError = classifyError
  }

  toPrompt({ session, header, messages }: Parameters<ModelAdapter['toPrompt']>[0]): { prompt: LanguageModelV4Prompt } {
    const seq = session.events.findLastIndex(({ type }) => type === 'request/start')
    this.seen.push({ seq, header, messages })
    const instructions = header.config['instructions']
    const system: LanguageModelV4Message[] =
      typeof instructions === 'string' ? [{ role: 'system', content: instructions }] : []
    return { prompt: [...system, ...messages.map(promptMessage)] }
  }
}

type AssistantContent = Extract<LanguageModelV4Message, { role: 'assistant' }>['content']

function textOf(content: readonly { readonly type: string }[]): string {
  return content.map((block) => ('text' in block ? String(block.text) : '')).join('')
}

function promptMessage(message: Message): LanguageModelV4Message {
  if (message.role === 'system') return { role: 'system', content: textOf(message.content) }
  const [first] = message.content
  if (first?.type === 'tool-result') {
    const output = { type: 'text' as const, value: textOf(first.content) }
    return {
      role: 'tool',
      content: [{ type: 'tool-result', toolCallId: first.toolCallId, toolName: 'tool', output }],
    }
  }
  if (message.role === 'user') return { role: 'user', content: [{ type: 'text', text: textOf(message.content) }] }
  return {
    role: 'assistant',
    content: message.content.flatMap((block): Exclude<AssistantContent, string> => {
      if (block.type === 'text') return [{ type: 'text' as const, text: block.text }]
      if (block.type !== 'tool-call') return []
      return [{ type: 'tool-call' as const, toolCallId: block.id, toolName: block.name, input: block.arguments }]
    }),
  }
}

export interface RigOptions extends Partial<Omit<AgentLoopOptions, 'adapter'>> {
  readonly script?: Script
  readonly scripted?: ScriptedModelOptions
  readonly classifyError?: NonNullable<ModelAdapter['classifyError']>
}

export interface Rig {
  readonly session: Session
  readonly model: ScriptedModel
  readonly adapter: TestAdapter
  readonly loop: AgentLoop
  readonly events: () => readonly SessionEvent[]
  /** The types of the log, from a seq on. */
  readonly types: (from?: number) => string[]
  readonly of: <Type extends SessionEvent['type']>(type: Type) => EventOf<Type>[]
  /** Sends, waits for the end of the turn, and checks the log. */
  readonly send: (text: string) => Promise<TurnResult>
  /** Waits until nothing runs, and checks the log. */
  readonly idle: () => Promise<void>
  readonly prompts: () => LanguageModelV4CallOptions['prompt'][]
}

/** A loop on a scripted model. Every turn is checked when it ends: no test can leave the laws out. */
export function rig({ script = [], scripted, classifyError, ...options }: RigOptions = {}): Rig {
  const session = options.session ?? Session.create({ now: () => 1_700_000_000_000 })
  const model = new ScriptedModel(script, scripted)
  const adapter = new TestAdapter(classifyError)
  let ids = session.length * 1000
  const createId = (): string => `id-${(ids += 1)}`
  const loop = new AgentLoop({
    model,
    createId,
    now: () => 1_700_000_000_000 + ids,
    sleep: () => Promise.resolve(),
    abortGraceMs: 0,
    ...options,
    session,
    adapter,
  })
  const problems: unknown[] = []
  session.on('session/event', ({ type }) => {
    if (type === 'turn/end') problems.push(...logProblems(session))
  })
  const check = (): void => {
    expect(problems).toEqual([])
    checkRequests(session, adapter)
  }
  return {
    session,
    model,
    adapter,
    loop,
    events: () => session.events,
    types: (from = 0) => session.events.slice(from).map(({ type }) => type),
    of: <Type extends SessionEvent['type']>(type: Type) =>
      session.events.filter((event): event is EventOf<Type> & SessionEvent => event.type === type),
    send: async (text) => {
      const result = await loop.send(text)
      check()
      return result
    },
    idle: async () => {
      await loop.idle()
      check()
    },
    prompts: () => model.requests.map(({ prompt }) => prompt),
  }
}

/** What is wrong with a log between two turns. A late result may wait for the next one. */
export function logProblems(session: Session): unknown[] {
  const { events } = session
  const streams = events.flatMap((event) => {
    if (event.type !== 'assistant/message' || event.data.stream.length === 0) return []
    const { stream, interrupted = false, message } = event.data
    const assembled = assembleStream(stream, { interrupted })
    return jsonEqual(toJson(assembled), toJson(message.content))
      ? []
      : [{ seq: event.seq, assembled, content: message.content }]
  })
  return [
    ...interruptedTurnClosers(events),
    ...traceFindings(events).filter(({ code }) => code !== 'trace/undelivered-result'),
    ...streams,
    ...violations(session.deriveMessages(), 'transcript'),
  ]
}

/** The log alone gives every request that was sent, and every provider takes it. SPEC 7.4. */
function checkRequests(session: Session, { seen }: TestAdapter): void {
  for (const { seq, header, messages } of seen) {
    expect(reconstructRequest(session.events, seq)).toEqual({ header, messages })
    expect(violations(messages, 'request')).toEqual([])
  }
}

/** What the rules of the providers say of a derived list. */
export function violations(messages: readonly Message[], profile: Profile): unknown[] {
  const claude = 'claude-sonnet-4-5'
  const { report: _, ...anthropic } = toAnthropic(messages, { model: claude })
  const chat = toOpenAiChat(messages)
  return [
    ...validateAnthropic({ model: claude, max_tokens: 1000, ...anthropic }, { profile }),
    ...validateOpenAiChat({ model: 'gpt-5', messages: chat.messages }, { profile }),
  ]
}
