import type { AttachmentRef } from '@palimpsest/session'
import { z } from 'zod'
import { type AgentTool, type ToolContext, defineTool } from '../../src/index.ts'

/** A transparent PNG of one pixel. */
export const pixel: Uint8Array = Uint8Array.from(
  atob('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='),
  (character) => character.charCodeAt(0),
)

/** Every run of a tool's body. One more run of the same call is an error that a test reports. */
export class BodyLedger {
  readonly problems: string[] = []
  readonly #runs = new Set<string>()
  #life = 0
  /** Turns up to this one ended in an earlier life: their calls never run again. */
  #lastTurn = 0
  runs = 0

  /** Another process would go on from here. */
  reopen(lastTurn: number): void {
    this.#life += 1
    this.#lastTurn = lastTurn
  }

  note(name: string, { turn, step, callId }: ToolContext): void {
    const run = `life ${this.#life}, turn ${turn}, step ${step}, call ${callId} of ${name}`
    if (this.#runs.has(run)) this.problems.push(`a body ran twice: ${run}`)
    if (turn <= this.#lastTurn) this.problems.push(`a body ran for a turn of an earlier life: ${run}`)
    this.#runs.add(run)
    this.runs += 1
  }
}

/** What slow bodies wait for. */
export class Gate {
  #open: () => void = () => undefined
  #opened = new Promise<void>((resolve) => (this.#open = resolve))

  get opened(): Promise<void> {
    return this.#opened
  }

  /** Lets everybody through who waits now; who comes later waits for the next time. */
  release(): void {
    this.#open()
    this.#opened = new Promise<void>((resolve) => (this.#open = resolve))
  }
}

export interface ToolParts {
  readonly ledger: BodyLedger
  readonly gate: Gate
  readonly putImage: (bytes: Uint8Array) => Promise<AttachmentRef>
}

/** Tools of every temper; two have names that some provider does not take. */
export function wireTools({ ledger, gate, putImage }: ToolParts): AgentTool[] {
  return [
    defineTool({
      name: 'fs.read',
      description: 'Reads a file.',
      inputSchema: z.object({ path: z.string(), lines: z.number().optional() }),
      execute: ({ path, lines = 1 }, context) => {
        ledger.note('fs.read', context)
        return Array.from({ length: lines }, (_, line) => `${path}:${line} 0123456789 é`).join('\n')
      },
    }),
    defineTool({
      name: 'constructor',
      inputSchema: z.object({}),
      execute: (_, context) => {
        ledger.note('constructor', context)
        return ''
      },
    }),
    defineTool({
      name: 'fails',
      inputSchema: z.object({}),
      execute: (_, context) => {
        ledger.note('fails', context)
        throw new Error('no luck')
      },
    }),
    defineTool({
      name: 'slow',
      description: 'Takes longer than it may.',
      inputSchema: z.object({}),
      timeoutMs: 1,
      execute: async (_, context) => {
        ledger.note('slow', context)
        await gate.opened
        return 'at last'
      },
    }),
    defineTool({
      name: 'patient',
      inputSchema: z.object({ ticks: z.number() }),
      execute: async ({ ticks }, context) => {
        ledger.note('patient', context)
        for (let at = 0; at < ticks && !context.signal.aborted; at += 1) {
          if (at % 8 === 0) context.progress(`tick ${at}`)
          await new Promise(setImmediate)
        }
        context.signal.throwIfAborted()
        return { ticks }
      },
    }),
    defineTool({
      name: 'shot',
      inputSchema: z.object({ fails: z.boolean().optional() }),
      execute: async ({ fails = false }, context) => {
        ledger.note('shot', context)
        const attachment = await putImage(pixel)
        const content = [
          { type: 'text' as const, text: 'the screen' },
          { type: 'image' as const, attachment },
        ]
        return { content, isError: fails }
      },
    }),
  ]
}
