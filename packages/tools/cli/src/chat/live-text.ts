import { printable } from '../render/text.ts'
import type { ChatModel } from './models.ts'

/** Hears text while it comes: deltas, and where an answer ended, which may be said more than once. */
export interface TextListener {
  text(delta: string): void
  end(): void
}

/** The same model; whoever listens hears its text before the answer is whole. */
export function listenTo(model: ChatModel, listener: TextListener): ChatModel {
  return {
    specificationVersion: model.specificationVersion,
    provider: model.provider,
    modelId: model.modelId,
    supportedUrls: model.supportedUrls,
    doGenerate: (options) => model.doGenerate(options),
    doStream: async (options) => {
      // The attempt before may have broken off in the middle of a line.
      listener.end()
      const result = await model.doStream(options)
      const tap = new TransformStream<StreamPart, StreamPart>({
        transform(part, controller) {
          if (part.type === 'text-delta') listener.text(part.delta)
          // Whoever reads stops here: the end of the stream is not waited for.
          if (part.type === 'finish') listener.end()
          controller.enqueue(part)
        },
      })
      return { ...result, stream: result.stream.pipeThrough(tap) }
    },
  }
}

type StreamPart = Awaited<ReturnType<ChatModel['doStream']>>['stream'] extends ReadableStream<infer Part> ? Part : never

/** Writes text that comes in pieces so that no terminal acts on it, and ends every answer with a line feed. */
export class LiveText implements TextListener {
  readonly #write: (text: string) => void
  /** The first half of a surrogate pair whose second is still to come. */
  #half = ''
  #isInLine = false

  constructor(write: (text: string) => void) {
    this.#write = write
  }

  text(delta: string): void {
    const text = this.#half + delta
    this.#half = /[\uD800-\uDBFF]$/.exec(text)?.[0] ?? ''
    this.#put(text.slice(0, text.length - this.#half.length))
  }

  end(): void {
    this.#put(this.#half)
    this.#half = ''
    if (this.#isInLine) this.#write('\n')
    this.#isInLine = false
  }

  #put(text: string): void {
    if (text === '') return
    this.#write(printable(text))
    this.#isInLine = !text.endsWith('\n')
  }
}
