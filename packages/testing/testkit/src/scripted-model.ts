import type {
  JSONValue,
  LanguageModelV3,
  LanguageModelV3CallOptions,
  LanguageModelV3StreamPart,
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4FinishReason,
  LanguageModelV4StreamPart,
  LanguageModelV4Usage,
  SharedV4ProviderMetadata,
} from '@ai-sdk/provider'

/** One thing that a scripted answer does, in order. A string is a text block. */
export type ScriptedPart =
  | string
  | { readonly text: string; readonly metadata?: SharedV4ProviderMetadata }
  /** The metadata comes with an empty last delta, as signatures do. */
  | { readonly reasoning: string; readonly metadata?: SharedV4ProviderMetadata }
  | {
      /** Name of the tool. */
      readonly call: string
      /** A string is the raw text of the arguments; `{}` unless given. */
      readonly input?: JSONValue
      readonly id?: string
      readonly metadata?: SharedV4ProviderMetadata
      /** `false`: the call comes at once, without input deltas. */
      readonly streamed?: boolean
    }
  /** A stream part as it is. */
  | { readonly part: LanguageModelV4StreamPart }
  /** Something that happens meanwhile. */
  | { readonly run: () => void | Promise<void> }

/** One answer of the script. Without `ends` it finishes, with `tool-calls` where it calls tools and `stop` elsewhere. */
export interface ScriptedAnswer {
  readonly parts?: readonly ScriptedPart[]
  readonly finish?: LanguageModelV4FinishReason['unified'] | LanguageModelV4FinishReason
  /** Tokens; `input` includes what came from the cache. */
  readonly usage?: {
    readonly input?: number
    readonly output?: number
    readonly cacheRead?: number
    readonly cacheWrite?: number
    readonly reasoning?: number
  }
  readonly response?: { readonly id?: string; readonly modelId?: string }
  /** Of the finish part. */
  readonly metadata?: SharedV4ProviderMetadata
  /** The request is refused with this error; nothing is streamed. */
  readonly rejects?: unknown
  /** The request gets no response until it is aborted. */
  readonly stalls?: true
  /**
   * What follows the parts: `early` closes without a finish part, `hang` waits for the abort, `cut` throws `error` at
   * the reader, `error` sends it as a part and finishes with `error`.
   */
  readonly ends?: 'finish' | 'early' | 'hang' | 'cut' | 'error'
  readonly error?: unknown
}

/** The answers in order, or a function of the request and its number, from 0. A string is an answer of one text. */
export type Script =
  | readonly (string | ScriptedAnswer)[]
  | ((options: LanguageModelV4CallOptions, index: number) => string | ScriptedAnswer)

export interface ScriptedModelOptions {
  readonly provider?: string
  readonly modelId?: string
}

type Emission = LanguageModelV4StreamPart | (() => void | Promise<void>)

/** A model whose answers are written down beforehand. It keeps the options of every call. */
export class ScriptedModel implements LanguageModelV4 {
  readonly specificationVersion = 'v4'
  readonly provider: string
  readonly modelId: string
  readonly supportedUrls: Record<string, RegExp[]> = {}
  /** What each request asked for, in order. */
  readonly requests: LanguageModelV4CallOptions[] = []
  readonly #script: Script

  constructor(script: Script, { provider = 'scripted.chat', modelId = 'scripted-1' }: ScriptedModelOptions = {}) {
    this.#script = script
    this.provider = provider
    this.modelId = modelId
  }

  doGenerate(): Promise<never> {
    return Promise.reject(new Error('a scripted model streams only'))
  }

  async doStream(
    options: LanguageModelV4CallOptions,
  ): Promise<{ stream: ReadableStream<LanguageModelV4StreamPart>; request: { body: string } }> {
    const index = this.requests.push(options) - 1
    const answer = this.#answer(options, index)
    const { abortSignal } = options
    abortSignal?.throwIfAborted()
    if (answer.stalls === true) await aborted(abortSignal)
    // eslint-disable-next-line typescript/only-throw-error -- a script may reject with anything
    if (answer.rejects !== undefined) throw answer.rejects
    return { stream: streamOf(answer, index, abortSignal), request: { body: '' } }
  }

  /** The same script behind the older interface. */
  v3(): LanguageModelV3 {
    return {
      specificationVersion: 'v3',
      provider: this.provider,
      modelId: this.modelId,
      supportedUrls: {},
      doGenerate: () => this.doGenerate(),
      doStream: async (options: LanguageModelV3CallOptions) => {
        const { stream } = await this.doStream(options as unknown as LanguageModelV4CallOptions)
        return { stream: stream.pipeThrough(new TransformStream({ transform: toV3 })) }
      },
    }
  }

  #answer(options: LanguageModelV4CallOptions, index: number): ScriptedAnswer {
    const script = this.#script
    const answer = typeof script === 'function' ? script(options, index) : script[index]
    if (answer === undefined) throw new Error(`the script has no answer to request ${String(index + 1)}`)
    return typeof answer === 'string' ? { parts: [answer] } : answer
  }
}

function streamOf(
  answer: ScriptedAnswer,
  index: number,
  signal: AbortSignal | undefined,
): ReadableStream<LanguageModelV4StreamPart> {
  const emissions = emissionsOf(answer, index)
  let at = 0
  return new ReadableStream<LanguageModelV4StreamPart>(
    {
      async pull(controller) {
        for (;;) {
          if (signal?.aborted === true) return controller.error(signal.reason)
          const next = emissions[at]
          at += 1
          if (typeof next === 'function') await next()
          else if (next !== undefined) return controller.enqueue(next)
          else break
        }
        await end(controller)
      },
    },
    { highWaterMark: 0 },
  )

  async function end(controller: ReadableStreamDefaultController<LanguageModelV4StreamPart>): Promise<void> {
    if (answer.ends === 'hang') await aborted(signal).catch((reason: unknown) => controller.error(reason))
    else if (answer.ends === 'cut') controller.error(answer.error ?? new TypeError('terminated'))
    else controller.close()
  }
}

function emissionsOf(answer: ScriptedAnswer, index: number): Emission[] {
  const parts = answer.parts ?? []
  const calls = parts.some((part) => typeof part === 'object' && 'call' in part)
  const emissions: Emission[] = [
    { type: 'stream-start', warnings: [] },
    { type: 'response-metadata', ...(answer.response ?? { id: `response-${String(index + 1)}` }) },
    ...parts.flatMap((part, at) => emissionsOfPart(part, `${String(index + 1)}-${String(at + 1)}`)),
  ]
  const usage = usageOf(answer.usage)
  const { ends = 'finish', finish = calls ? 'tool-calls' : 'stop', metadata } = answer
  if (ends === 'error') {
    emissions.push({ type: 'error', error: answer.error ?? { message: 'the script says so' } })
    emissions.push({ type: 'finish', usage, finishReason: { unified: 'error', raw: undefined } })
  }
  if (ends !== 'finish') return emissions
  const finishReason = typeof finish === 'string' ? { unified: finish, raw: finish } : finish
  emissions.push({ type: 'finish', usage, finishReason, ...(metadata && { providerMetadata: metadata }) })
  return emissions
}

function emissionsOfPart(part: ScriptedPart, id: string): Emission[] {
  if (typeof part === 'string') return emissionsOfPart({ text: part }, id)
  if ('run' in part) return [part.run]
  if ('part' in part) return [part.part]
  const providerMetadata = part.metadata && { providerMetadata: part.metadata }
  if ('text' in part) {
    return [
      { type: 'text-start', id },
      ...halves(part.text).map((delta): Emission => ({ type: 'text-delta', id, delta })),
      { type: 'text-end', id, ...providerMetadata },
    ]
  }
  if ('reasoning' in part) {
    return [
      { type: 'reasoning-start', id },
      ...halves(part.reasoning).map((delta): Emission => ({ type: 'reasoning-delta', id, delta })),
      ...(providerMetadata ? [{ type: 'reasoning-delta' as const, id, delta: '', ...providerMetadata }] : []),
      { type: 'reasoning-end', id },
    ]
  }
  const { call: toolName, input = {}, id: toolCallId = `call-${id}`, streamed = true } = part
  const text = typeof input === 'string' ? input : JSON.stringify(input)
  const whole: Emission = { type: 'tool-call', toolCallId, toolName, input: text, ...providerMetadata }
  if (!streamed) return [whole]
  return [
    { type: 'tool-input-start', id: toolCallId, toolName },
    ...halves(text).map((delta): Emission => ({ type: 'tool-input-delta', id: toolCallId, delta })),
    { type: 'tool-input-end', id: toolCallId },
    whole,
  ]
}

/** A text in two deltas, so that no test takes one delta for the whole. */
function halves(text: string): string[] {
  const middle = Math.ceil(text.length / 2)
  return [text.slice(0, middle), text.slice(middle)].filter((half) => half !== '')
}

function usageOf(usage: ScriptedAnswer['usage']): LanguageModelV4Usage {
  const { input, output, cacheRead, cacheWrite, reasoning } = usage ?? {}
  return {
    inputTokens: { total: input, noCache: undefined, cacheRead, cacheWrite },
    outputTokens: { total: output, text: undefined, reasoning },
  }
}

function toV3(
  part: LanguageModelV4StreamPart,
  controller: TransformStreamDefaultController<LanguageModelV3StreamPart>,
): void {
  switch (part.type) {
    case 'ping':
    case 'custom':
    case 'reasoning-file':
      return
    case 'file': {
      const { type, mediaType, data } = part
      if (data.type === 'data') controller.enqueue({ type, mediaType, data: data.data })
      return
    }
    case 'finish': {
      const { unified, raw } = part.finishReason
      const finishReason = { unified: unified === 'interrupted' ? ('other' as const) : unified, raw }
      return controller.enqueue({ ...part, finishReason })
    }
    default:
      controller.enqueue(part as LanguageModelV3StreamPart)
  }
}

/** Rejects with the reason of the abort; stays pending without one. */
function aborted(signal: AbortSignal | undefined): Promise<never> {
  return new Promise((_, reject) => {
    const stop = (): void => reject(signal?.reason instanceof Error ? signal.reason : new Error('aborted'))
    if (signal?.aborted === true) stop()
    else signal?.addEventListener('abort', stop, { once: true })
  })
}
