import type { FormatEvent } from '../log.ts'
import type { SeqMap } from '../seq-map.ts'

/** The plugin that composed the prompts of the older versions, and puts them on the surface from version 3 on. */
const PLUGIN = '@deepseek-ai/dsh-system-prompt'

/** Where in the conversation a prompt is set. Both count from 1. */
export interface PromptPlace {
  readonly turn: number
  readonly step: number
  /** The event that the prompt comes with. Its time is taken. */
  readonly anchor: FormatEvent
}

/** The protected head of a migrated surface: the prompt in force, each change a replacement of it. SPEC 3.4, 6. */
export class PromptHead {
  readonly #session: string
  readonly #map: SeqMap
  #seq: number | undefined
  #prompt = ''

  constructor(session: string, map: SeqMap) {
    this.#session = session
    this.#map = map
  }

  get isThere(): boolean {
    return this.#seq !== undefined
  }

  get prompt(): string {
    return this.#prompt
  }

  /** The `system/message` that puts a prompt in force. The empty one means that there is no prompt. */
  set(prompt: string, { turn, step, anchor }: PromptPlace): FormatEvent {
    const covered = this.#seq
    const seq = this.#map.insert()
    this.#seq = seq
    this.#prompt = prompt
    return {
      type: 'system/message',
      seq,
      time: anchor.time,
      ...(covered === undefined
        ? { surfaceOp: 'append' }
        : { surfaceOp: { op: 'replace', startSeq: covered, endSeq: covered }, sourceEventSeqs: [covered] }),
      data: {
        turn,
        step,
        message: {
          id: `migrated-system:${this.#session}:${seq}`,
          role: 'system',
          content: prompt === '' ? [] : [{ type: 'text', text: prompt }],
          source: { kind: 'plugin', plugin: PLUGIN },
        },
      },
      line: anchor.line,
    }
  }
}
