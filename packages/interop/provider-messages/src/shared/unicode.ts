const SURROGATE = /\p{Surrogate}/u
const SURROGATES = /\p{Surrogate}/gu
// JavaScript's white space plus what Python's `strip` takes away beyond it: the providers' servers decide.
const BLANK = /^[\s\u001c-\u001f\u0085]*$/

/** Whether the string has no lone surrogate. */
export function isWellFormed(text: string): boolean {
  return !SURROGATE.test(text)
}

/** The string with U+FFFD for every lone surrogate. */
export function toWellFormed(text: string): string {
  return SURROGATE.test(text) ? text.replace(SURROGATES, '\uFFFD') : text
}

/** Whether no character of the string is visible to a provider that trims white space. */
export function isBlank(text: string): boolean {
  return BLANK.test(text)
}

/** Length of the string in UTF-8 bytes. */
export function utf8Length(text: string): number {
  let bytes = text.length
  for (let index = 0; index < text.length; index += 1) {
    const unit = text.charCodeAt(index)
    if (unit < 0x80) continue
    // Either half of a pair adds one byte to its own unit: four in all.
    bytes += unit < 0x800 || (unit >= 0xd800 && unit <= 0xdfff) ? 1 : 2
  }
  return bytes
}

/**
 * Calls `visit` for every string of a JSON value, keys included, in document order. Iterative, and each object is
 * entered once, so neither depth nor a cycle of a value that is no JSON can hurt.
 */
export function walkStrings(
  value: unknown,
  path: string,
  visit: (text: string, path: string, role: 'key' | 'value') => void,
): void {
  const seen = new Set<object>()
  const stack: { value: unknown; path: string; key?: string }[] = [{ value, path }]
  for (let next = stack.pop(); next !== undefined; next = stack.pop()) {
    if (next.key !== undefined) visit(next.key, next.path, 'key')
    if (typeof next.value === 'string') visit(next.value, next.path, 'value')
    if (typeof next.value !== 'object' || next.value === null || seen.has(next.value)) continue
    seen.add(next.value)
    const parent = next.path
    const children = Array.isArray(next.value)
      ? Array.from(next.value as readonly unknown[], (child, index) => ({ value: child, path: `${parent}.${index}` }))
      : Object.entries(next.value).map(([key, child]: [string, unknown]) => ({
          value: child,
          path: `${parent}.${key}`,
          key,
        }))
    for (const child of children.reverse()) stack.push(child)
  }
}
