import type { TokenUsage } from '@palimpsest/session'
import type { DraftBlock, DraftModel } from '../conversation/draft.ts'
import { countMember, objectMember } from '../json.ts'
import type { LooseObject } from '../json.ts'

/** A response that is being read: the file holds its items, line by line, and not where it begins or ends. */
export class CodexResponse {
  readonly key: string
  readonly #provider: string
  readonly #model: string
  readonly #lines: number[] = []
  readonly #blocks: DraftBlock[] = []
  readonly #time: number | undefined
  #id: string | undefined
  usage: TokenUsage | undefined

  constructor(key: string, provider: string, model: string, time: number | undefined) {
    this.key = key
    this.#provider = provider
    this.#model = model
    this.#time = time
  }

  /** Adds an item. `id` is that of a message. */
  add(line: number, time: number | undefined, blocks: readonly DraftBlock[], id?: string): void {
    if (this.#lines.at(-1) !== line) this.#lines.push(line)
    for (const block of blocks) this.#blocks.push(time === undefined ? block : { ...block, time })
    this.#id ??= id
  }

  draft(): DraftModel {
    const [time, id, usage] = [this.#time, this.#id, this.usage]
    return {
      kind: 'model',
      origin: {
        lines: this.#lines,
        key: this.key,
        ...(time === undefined ? {} : { time }),
        ...(id === undefined ? {} : { id }),
      },
      provider: this.#provider,
      model: this.#model,
      blocks: this.#blocks,
      ...(usage === undefined ? {} : { usage }),
    }
  }
}

/**
 * Gives each response what it used. A count of tokens stands behind the items of its response, in older versions before
 * them, and may be written again without anything new.
 */
export class CodexUsage {
  #total = ''
  #waiting: TokenUsage | undefined
  /** The last response of the request at hand. */
  #last: CodexResponse | undefined

  began(response: CodexResponse): void {
    response.usage = this.#waiting
    this.#waiting = undefined
    this.#last = response
  }

  /** What follows belongs to another request. */
  requested(): void {
    this.#last = undefined
  }

  counted(payload: LooseObject): void {
    const info = objectMember(payload, 'info') ?? {}
    const usage = usageOf(objectMember(info, 'last_token_usage') ?? {})
    const total = JSON.stringify(info['total_token_usage'] ?? null)
    if (usage === undefined || total === this.#total) return
    this.#total = total
    if (this.#last === undefined || this.#last.usage !== undefined) this.#waiting = usage
    else this.#last.usage = usage
  }
}

function usageOf(usage: LooseObject): TokenUsage | undefined {
  const entries = [
    ['inputTokens', countMember(usage, 'input_tokens')],
    ['outputTokens', countMember(usage, 'output_tokens')],
    ['cacheReadTokens', countMember(usage, 'cached_input_tokens')],
    ['cacheWriteTokens', countMember(usage, 'cache_write_input_tokens')],
    ['reasoningTokens', countMember(usage, 'reasoning_output_tokens')],
  ].filter(([, count]) => count !== undefined)
  return entries.length === 0 ? undefined : (Object.fromEntries(entries) as TokenUsage)
}
