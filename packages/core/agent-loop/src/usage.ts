import type { LanguageModelV3Usage, LanguageModelV4Usage } from '@ai-sdk/provider'
import type { TokenUsage } from '@palimpsest/session'

type Counts = { -readonly [Name in keyof TokenUsage]: TokenUsage[Name] }

/** What the provider counted; `inputTokens` includes what came from the cache. `undefined` when it counted nothing. */
export function usageOf(usage: LanguageModelV4Usage | LanguageModelV3Usage | undefined): TokenUsage | undefined {
  const counts: Counts = {}
  set(counts, 'inputTokens', usage?.inputTokens?.total)
  set(counts, 'outputTokens', usage?.outputTokens?.total)
  set(counts, 'cacheReadTokens', usage?.inputTokens?.cacheRead)
  set(counts, 'cacheWriteTokens', usage?.inputTokens?.cacheWrite)
  set(counts, 'reasoningTokens', usage?.outputTokens?.reasoning)
  return Object.keys(counts).length === 0 ? undefined : counts
}

/** The sum; a count that neither has stays away. */
export function addUsage(one: TokenUsage, other: TokenUsage): TokenUsage {
  const sum: Counts = { ...one }
  for (const name of Object.keys(other) as (keyof TokenUsage)[]) sum[name] = (one[name] ?? 0) + (other[name] ?? 0)
  return sum
}

function set(counts: Counts, name: keyof TokenUsage, count: number | null | undefined): void {
  if (typeof count === 'number' && Number.isSafeInteger(count) && count >= 0) counts[name] = count
}
