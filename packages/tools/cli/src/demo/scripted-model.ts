import type { AgentModel } from '@palimpsest/agent-loop'

type Model = Extract<AgentModel, { readonly specificationVersion: 'v4' }>
export type ModelCall = Parameters<Model['doStream']>[0]
type StreamPart = Awaited<ReturnType<Model['doStream']>>['stream'] extends ReadableStream<infer Part> ? Part : never

/** One answer: words, and a tool that they ask for. */
export interface ScriptedAnswer {
  readonly text: string
  readonly call?: { readonly id: string; readonly name: string; readonly input: string }
}

/** A model whose answers are written down beforehand, so that the demonstration needs no network. */
export class ScriptedModel implements Model {
  readonly specificationVersion = 'v4'
  readonly provider = 'demo.scripted'
  readonly modelId = 'scripted-1'
  readonly supportedUrls: Record<string, RegExp[]> = {}
  readonly #answers: readonly ScriptedAnswer[]
  readonly #hear: (call: ModelCall) => void
  #calls = 0

  /** `hear` is given what the model is given. */
  constructor(answers: readonly ScriptedAnswer[], hear: (call: ModelCall) => void) {
    this.#answers = answers
    this.#hear = hear
  }

  doGenerate(): Promise<never> {
    return Promise.reject(new Error('the scripted model streams only'))
  }

  doStream(call: ModelCall): Promise<{ stream: ReadableStream<StreamPart> }> {
    this.#hear(call)
    const answer = this.#answers[this.#calls]
    this.#calls += 1
    if (answer === undefined) return Promise.reject(new Error('the script has no further answer'))
    const parts = partsOf(answer, `response-${this.#calls}`)
    return Promise.resolve({ stream: ReadableStream.from<StreamPart>(parts) })
  }
}

function partsOf({ text, call }: ScriptedAnswer, id: string): StreamPart[] {
  const calls: StreamPart[] =
    call === undefined
      ? []
      : [
          { type: 'tool-input-start', id: call.id, toolName: call.name },
          { type: 'tool-input-delta', id: call.id, delta: call.input },
          { type: 'tool-input-end', id: call.id },
          { type: 'tool-call', toolCallId: call.id, toolName: call.name, input: call.input },
        ]
  const unified = call === undefined ? 'stop' : 'tool-calls'
  return [
    { type: 'stream-start', warnings: [] },
    { type: 'response-metadata', id },
    { type: 'text-start', id: 'text' },
    // In pieces, as they come over a wire.
    ...text.split(/(?<= )/).map((delta): StreamPart => ({ type: 'text-delta', id: 'text', delta })),
    { type: 'text-end', id: 'text' },
    ...calls,
    {
      type: 'finish',
      finishReason: { unified, raw: unified },
      usage: {
        inputTokens: { total: undefined, noCache: undefined, cacheRead: undefined, cacheWrite: undefined },
        outputTokens: { total: undefined, text: undefined, reasoning: undefined },
      },
    },
  ]
}
