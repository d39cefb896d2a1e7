import type { Violation } from './rule.ts'
import { isWellFormed, toWellFormed, walkStrings } from './unicode.ts'

/** A violation of `rule` for every string and key of a JSON value that has a lone surrogate; `root` is the value's path. */
export function loneSurrogates(rule: string, value: unknown, root: string): Violation[] {
  const found: Violation[] = []
  walkStrings(value, root, (text, path) => {
    if (isWellFormed(text)) return
    const message = 'a surrogate stands alone: the body is not valid JSON for strict parsers'
    found.push({ rule, path: toWellFormed(path.replace(/^\./, '')), message })
  })
  return found
}
