import type { LanguageModelV3Prompt, LanguageModelV4Prompt } from '@ai-sdk/provider'
import {
  type EventOf,
  type JsonObject,
  type Message,
  type MessageId,
  type RequestHeader,
  type SessionSeq,
  type StepRef,
  redact,
} from '@palimpsest/session'
import { throwIfAborted, untilAborted, whileRunning } from './abort.ts'
import type { AgentModel, ExportedPrompt } from './adapter.ts'
import { AnswerBuilder, type BuiltAnswer, ErrorPart, type StreamPart } from './answer.ts'
import { flushBarrier } from './barrier.ts'
import { type FailureStage, type RequestFailure, messageOf, requestFailure } from './failure.ts'
import { keepImage } from './images.ts'
import { logAsItStands } from './log-as-it-stands.ts'
import type { LoopParts } from './loop-config.ts'
import { type CallOptions, callOptions } from './request.ts'
import { TurnStop, failTurn, stopOf } from './turn-stop.ts'

export type AssistantEvent = EventOf<'assistant/message'>

/** What became of one attempt. `finish` is how the model says it ended. */
export type AttemptResult =
  | { readonly message: AssistantEvent; readonly finish: string }
  | { readonly failed: RequestFailure }

export interface ModelCall {
  readonly place: StepRef
  readonly attempt: number
  readonly header: RequestHeader
  readonly signal: AbortSignal
}

/**
 * Sends one request and records what came of it: `request/start`, the barrier, and then an `assistant/message` or an
 * `assistant/attempt`. Throws `TurnStop` when the turn ends here; the visible prefix is in the log by then.
 */
export async function callModel(parts: LoopParts, call: ModelCall): Promise<AttemptResult> {
  const { session, adapter, model } = parts
  const { place, attempt, header, signal } = call
  const messages = session.deriveMessages()
  const throughSeq = (session.length - 1) as SessionSeq
  const start = session.append('request/start', { ...place, attempt, throughSeq })
  const record = new AnswerRecord(parts, place, start.seq)
  let stage: FailureStage = 'request'
  let answer: AnswerBuilder | undefined
  try {
    const log = logAsItStands(session)
    await flushBarrier(parts, signal)
    const exported = await whileRunning(signal, exportPrompt(parts, header, messages, log))
    answer = newAnswer(parts, exported)
    const options = { ...callOptions(header, exported), abortSignal: signal }
    const { stream } = await whileRunning(signal, open(model, options))
    stage = 'answer'
    await readAnswer(stream, answer, signal)
    // The finish part makes an answer whole, whether the turn is aborted by now or not.
    if (answer.hasImages) await whileRunning(signal, settleImages(answer))
    const built = answer.whole()
    return { message: record.message(built), finish: answer.finish?.unified ?? 'other' }
  } catch (error) {
    if (!(error instanceof TurnStop)) {
      const failed = requestFailure(error instanceof ErrorPart ? error.cause : error, stage, adapter)
      record.attempt(answer?.prefix(), failed.failure)
      return { failed }
    }
    const prefix = answer?.prefix()
    if (error.reason.kind === 'error') record.attempt(prefix, error.reason.failure as JsonObject)
    else if (prefix === undefined || prefix.content.length === 0) record.attempt(prefix, undefined)
    else return { message: record.message(prefix), finish: 'aborted' }
    throw error
  }
}

async function exportPrompt(
  { adapter, model }: LoopParts,
  header: RequestHeader,
  messages: readonly Message[],
  session: Parameters<LoopParts['adapter']['toPrompt']>[0]['session'],
): Promise<ExportedPrompt> {
  return adapter.toPrompt({ session, header, messages, specificationVersion: model.specificationVersion })
}

function newAnswer(parts: LoopParts, { toolNames }: ExportedPrompt): AnswerBuilder {
  const names = new Map([...(toolNames ?? [])].map(([name, wireName]) => [wireName, name]))
  return new AnswerBuilder({
    now: parts.now,
    toolName: (wireName) => names.get(wireName) ?? wireName,
    keepImage: (part) => keepImage(part, parts.attachments),
  })
}

/** The adapter was told the version of this model, and the prompt is of it. A V3 model knows no `reasoning`. */
async function open(
  model: AgentModel,
  { prompt, ...options }: CallOptions,
): Promise<{ readonly stream: ReadableStream<StreamPart> }> {
  if (model.specificationVersion === 'v4') {
    return model.doStream({ ...options, prompt: prompt as LanguageModelV4Prompt })
  }
  const { reasoning: _, ...rest } = options
  return model.doStream({ ...rest, prompt: prompt as LanguageModelV3Prompt })
}

async function readAnswer(
  stream: ReadableStream<StreamPart>,
  answer: AnswerBuilder,
  signal: AbortSignal,
): Promise<void> {
  const reader = stream.getReader()
  try {
    for (;;) {
      throwIfAborted(signal)
      const { done, value } = await untilAborted(signal, reader.read())
      if (done) return
      answer.take(value)
      if (answer.finish !== undefined) return
    }
  } finally {
    reader.cancel().catch(() => undefined)
  }
}

async function settleImages(answer: AnswerBuilder): Promise<void> {
  try {
    await answer.settled()
  } catch (error) {
    throw failTurn('flush/failed', `an image of the answer could not be kept: ${messageOf(error)}`, error)
  }
}

/** Writes the one event that answers a request. */
class AnswerRecord {
  readonly #parts: LoopParts
  readonly #place: StepRef
  readonly #requestSeq: SessionSeq
  #isWritten = false

  constructor(parts: LoopParts, place: StepRef, requestSeq: SessionSeq) {
    this.#parts = parts
    this.#place = place
    this.#requestSeq = requestSeq
  }

  /** Throws `TurnStop` `hook/failed` when a listener vetoes the message: then the request was an attempt. */
  message(built: BuiltAnswer): AssistantEvent {
    try {
      return this.#append(built)
    } catch (error) {
      const failure = { code: 'hook/failed', message: redact(`the log did not take the answer: ${messageOf(error)}`) }
      this.attempt(built, failure)
      throw stopOf(failure, error)
    }
  }

  #append({ content, stream, replayState, usage, isInterrupted }: BuiltAnswer): AssistantEvent {
    const { session, model, createId } = this.#parts
    const source = {
      kind: 'model' as const,
      provider: model.provider,
      model: model.modelId,
      ...(replayState === undefined ? {} : { replayState }),
    }
    const data = {
      ...this.#place,
      message: { id: createId() as MessageId, role: 'assistant' as const, content, source },
      stream,
      ...(usage === undefined ? {} : { usage }),
      ...(isInterrupted ? { interrupted: true as const } : {}),
      requestSeq: this.#requestSeq,
    }
    return session.append('assistant/message', data, { surfaceOp: 'append' })
  }

  attempt(answer: BuiltAnswer | undefined, failure: JsonObject | undefined): void {
    if (this.#isWritten) return
    const stream = answer?.stream ?? []
    this.#isWritten = true
    this.#parts.session.append('assistant/attempt', {
      ...this.#place,
      stream,
      ...(failure === undefined ? {} : { failure }),
      requestSeq: this.#requestSeq,
    })
  }
}
