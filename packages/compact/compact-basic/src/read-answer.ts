import type {
  LanguageModelV3StreamPart,
  LanguageModelV3Usage,
  LanguageModelV4StreamPart,
  LanguageModelV4Usage,
} from '@ai-sdk/provider'
import type { TokenUsage } from '@palimpsest/session'
import { CompactBasicError } from './errors.ts'

/** What a model wrote, without its reasoning and whatever tools it called. */
export interface Answer {
  readonly text: string
  readonly usage?: TokenUsage
}

/** How an answer ends that is whole. `tool-calls`: the model wrote, and called a tool that nobody runs. */
const whole: ReadonlySet<string> = new Set(['stop', 'tool-calls', 'other'])

/** Reads a stream to its end. Throws its error part, and `summary/failed` where the answer is not whole. */
export async function readAnswer(
  stream: ReadableStream<LanguageModelV4StreamPart | LanguageModelV3StreamPart>,
): Promise<Answer> {
  const reader = stream.getReader()
  let text = ''
  try {
    for (;;) {
      const { done, value: part } = await reader.read()
      if (done) throw new CompactBasicError('summary/failed', 'the answer ended before it was whole')
      if (part.type === 'text-delta') text += part.delta
      if (part.type === 'error') throw asError(part.error)
      if (part.type === 'finish') {
        const { unified } = part.finishReason
        if (!whole.has(unified)) {
          throw new CompactBasicError('summary/failed', `the summary is not whole: the model stopped with ${unified}`)
        }
        return { text, usage: usageOf(part.usage) }
      }
    }
  } finally {
    // What the provider still sends is nobody's, nor is how long it takes to stop; a stream that broke cannot be cancelled.
    void reader.cancel().catch(() => undefined)
  }
}

function asError(error: unknown): Error {
  if (error instanceof Error) return error
  return new CompactBasicError('summary/failed', 'the model failed while it wrote the summary', { cause: error })
}

function usageOf({ inputTokens, outputTokens }: LanguageModelV4Usage | LanguageModelV3Usage): TokenUsage {
  const counts = {
    inputTokens: inputTokens.total,
    outputTokens: outputTokens.total,
    cacheReadTokens: inputTokens.cacheRead,
    cacheWriteTokens: inputTokens.cacheWrite,
    reasoningTokens: outputTokens.reasoning,
  }
  return Object.fromEntries(Object.entries(counts).filter(([, count]) => count !== undefined)) as TokenUsage
}
