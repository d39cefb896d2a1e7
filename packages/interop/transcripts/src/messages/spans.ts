/** Where a member of a JSON array or object stands in its text, `end` exclusive. */
export interface MemberSpan {
  /** The name, in an object. */
  readonly name?: string
  readonly start: number
  readonly end: number
}

/**
 * The members of the JSON array or object that begins at or after a place of well-formed JSON text, in their order. One
 * pass without recursion, so that depth cannot hurt.
 */
export function memberSpans(text: string, from: number): MemberSpan[] {
  const open = skipBlank(text, from)
  const spans: MemberSpan[] = []
  if (text[open] !== '[' && text[open] !== '{') return spans
  const isObject = text[open] === '{'
  let at = skipBlank(text, open + 1)
  while (at < text.length && text[at] !== ']' && text[at] !== '}') {
    let name: string | undefined
    if (isObject) {
      const end = valueEnd(text, at)
      name = JSON.parse(text.slice(at, end)) as string
      at = skipBlank(text, skipBlank(text, end) + 1)
    }
    const end = valueEnd(text, at)
    spans.push({ start: at, end, ...(name === undefined ? {} : { name }) })
    at = skipBlank(text, end)
    if (text[at] === ',') at = skipBlank(text, at + 1)
  }
  return spans
}

const blank = /[\s\uFEFF]/

function skipBlank(text: string, from: number): number {
  let at = from
  while (at < text.length && blank.test(text[at] ?? '')) at += 1
  return at
}

/** The end of the value that begins at a place. */
function valueEnd(text: string, start: number): number {
  let depth = 0
  for (let at = start; at < text.length; at += 1) {
    const char = text[at]
    if (char === '"') {
      at = stringEnd(text, at)
      if (depth === 0) return at + 1
    } else if (char === '[' || char === '{') depth += 1
    else if (char === ']' || char === '}') {
      if (depth === 0) return at
      depth -= 1
      if (depth === 0) return at + 1
    } else if (depth === 0 && (char === ',' || blank.test(char ?? ''))) return at
  }
  return text.length
}

/** The closing quote of the string that begins at a place. */
function stringEnd(text: string, start: number): number {
  for (let at = text.indexOf('"', start + 1); at !== -1; at = text.indexOf('"', at + 1)) {
    let escapes = 0
    while (text[at - 1 - escapes] === '\\') escapes += 1
    if (escapes % 2 === 0) return at
  }
  return text.length
}
