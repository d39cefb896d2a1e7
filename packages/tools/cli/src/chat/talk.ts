import type { AgentLoop, TurnResult } from '@palimpsest/agent-loop'
import type { Io } from '../io.ts'
import type { Conversation } from './conversation.ts'
import { linesOf } from './lines.ts'

export interface TalkListener {
  /** The next line may be typed. */
  ready(): void
  /** A turn is over, and durable. */
  turn(result: TurnResult): void
  /** Ctrl-C: the turn is being aborted. */
  aborting(): void
}

/**
 * Sends every line that is not blank as a turn of its own, to the end of the input. Ctrl-C aborts the turn that runs; a
 * second one, and one between turns, ends the conversation.
 */
export async function talk(
  io: Pick<Io, 'input' | 'onInterrupt'>,
  { loop, flush }: Pick<Conversation, 'loop' | 'flush'>,
  listener: TalkListener,
): Promise<TurnResult[]> {
  const ending = new AbortController()
  const stopListening = io.onInterrupt(interrupter(loop, ending, listener))
  const results: TurnResult[] = []
  try {
    listener.ready()
    for await (const line of linesOf(io.input(ending.signal), ending.signal)) {
      if (line.trim() !== '') {
        const result = await loop.send(line)
        await flush()
        results.push(result)
        listener.turn(result)
      }
      if (!ending.signal.aborted) listener.ready()
    }
    return results
  } finally {
    stopListening()
    // Whoever still types is not waited for.
    ending.abort()
  }
}

function interrupter(loop: AgentLoop, ending: AbortController, listener: TalkListener): () => void {
  let isAborting = false
  return () => {
    if (!loop.isRunning) isAborting = false
    if (!loop.isRunning || isAborting) return ending.abort()
    isAborting = true
    listener.aborting()
    loop.abort('interrupted by the user')
    void loop.idle().then(() => (isAborting = false))
  }
}
