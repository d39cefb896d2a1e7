import type { LanguageModelV4CallOptions } from '@ai-sdk/provider'
import type { Summarize } from '@palimpsest/compact'
import type { ContentBlock, Message } from '@palimpsest/session'
import type { ScriptedAnswer } from '@palimpsest/testkit'

/** What each task has to do in the world, by its number; at most once each. Task 1 does both at one time. */
export const effectsOf: Readonly<Record<number, readonly string[]>> = { 1: ['1a', '1b'], 2: ['2a', '2b'], 3: [] }

/** What can be read of a conversation, as a model or a summariser reads it. */
class Reading {
  /** The task that was spoken of last. */
  task = 0
  /** Effects of which a result says that they happened, or may have. */
  readonly settled = new Set<string>()
  readonly #calls = new Map<string, string>()
  readonly #asked: string[] = []

  text(text: string): void {
    const task = text.match(/\btask (\d)/i)?.[1]
    if (task !== undefined) this.task = Number(task)
    for (const effect of text.match(/Settled:([\w ]*)/)?.[1]?.split(' ') ?? []) if (effect) this.settled.add(effect)
  }

  call(id: string, input: unknown): void {
    const { effect } = input as { readonly effect: string }
    this.#calls.set(id, effect)
    this.#asked.push(effect)
  }

  result(id: string, text: string): void {
    // The one text after which a call may be made again.
    if (!text.includes('safe to call it again')) this.settled.add(this.#calls.get(id) ?? '')
  }

  /** How often an effect was asked for. */
  times(effect: string): number {
    return this.#asked.filter((asked) => asked === effect).length
  }
}

function readPrompt(prompt: LanguageModelV4CallOptions['prompt']): Reading {
  const reading = new Reading()
  for (const message of prompt) {
    if (message.role === 'system') continue
    for (const part of message.content) {
      if (message.role === 'user' && part.type === 'text') reading.text(part.text)
      else if (part.type === 'tool-call') reading.call(part.toolCallId, part.input)
      else if (part.type === 'tool-result') reading.result(part.toolCallId, JSON.stringify(part.output))
    }
  }
  return reading
}

function readMessages(messages: readonly Message[]): Reading {
  const reading = new Reading()
  const read = (block: ContentBlock, role: Message['role']): void => {
    if (block.type === 'text' && role === 'user') reading.text(block.text)
    else if (block.type === 'tool-call') reading.call(block.id, JSON.parse(block.arguments))
    else if (block.type === 'tool-result') reading.result(block.toolCallId, JSON.stringify(block.content))
  }
  for (const { role, content } of messages) for (const block of content) read(block, role)
  return reading
}

/**
 * A model that answers by what it sees: it calls for what its task still has to do, and never again for what a result
 * does not call safe. Its first answer to task 2 breaks off.
 */
export function obedientScript(onRequest: () => void): (options: LanguageModelV4CallOptions) => ScriptedAnswer {
  let hasBrokenOff = false
  return ({ prompt }) => {
    onRequest()
    const reading = readPrompt(prompt)
    const { task } = reading
    if (task === 2 && !hasBrokenOff) {
      hasBrokenOff = true
      return { parts: ['I was'], ends: 'early' }
    }
    const open = (effectsOf[task] ?? []).filter((effect) => !reading.settled.has(effect))
    if (open.length === 0) return { parts: [task === 2 ? 'It took '.padEnd(700, 'a while, ') : 'Done.'] }
    return {
      parts: (task === 1 ? open : open.slice(0, 1)).map((effect) => ({
        call: 'act',
        id: `call-${effect}-${reading.times(effect) + 1}`,
        input: { effect },
      })),
    }
  }
}

/** A summary of what that model must know. */
export const summarize: Summarize = ({ messages }) => {
  const { task, settled } = readMessages(messages)
  return { text: `So far: task ${task}. Settled: ${[...settled].join(' ')}` }
}
