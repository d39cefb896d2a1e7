/** An object as it came over the wire: nothing is known about its members yet. */
export type Fields = Readonly<Record<string, unknown>>

export function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** `value` if it is an object, else one without members. */
export function fieldsOf(value: unknown): Fields {
  return isFields(value) ? value : {}
}

/** `value` if it is an array, else an empty one. */
export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? (value as readonly unknown[]) : []
}

/** `value` if it is a string, else `""`. */
export function stringOf(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

/** One spelling for equal JSON values: members sorted by name, those named in `omit` left out at every depth. */
export function canonical(value: unknown, omit: ReadonlySet<string> = new Set()): string {
  return JSON.stringify(value, (_key, one: unknown) =>
    isFields(one)
      ? Object.fromEntries(
          Object.entries(one)
            .filter(([name]) => !omit.has(name))
            .sort(([a], [b]) => (a < b ? -1 : 1)),
        )
      : one,
  )
}

/** Half of a surrogate pair without its other half, and where in the text of a request body. */
export interface LoneSurrogate {
  readonly half: 'high' | 'low'
  /** Zero-based offset in the body, in UTF-16 units (escaped) or bytes (raw). */
  readonly offset: number
}

/** The first lone surrogate of a JSON text, written as an escape or as the three bytes that UTF-8 forbids. */
export function loneSurrogate(text: string, bytes: Uint8Array): LoneSurrogate | undefined {
  let high: number | undefined
  for (const match of text.matchAll(/\\(?:u([0-9a-fA-F]{4})|.)/gs)) {
    if (high !== undefined && match.index !== high + 6) return { half: 'high', offset: high }
    const code = Number.parseInt(match[1] ?? '0', 16)
    const isLow = code >= 0xdc00 && code <= 0xdfff
    if (high !== undefined && !isLow) return { half: 'high', offset: high }
    if (high === undefined && isLow) return { half: 'low', offset: match.index }
    high = code >= 0xd800 && code <= 0xdbff ? match.index : undefined
  }
  if (high !== undefined) return { half: 'high', offset: high }
  for (let at = bytes.indexOf(0xed); at !== -1; at = bytes.indexOf(0xed, at + 1)) {
    const next = bytes[at + 1] ?? 0
    if (next >= 0xa0 && next <= 0xbf) return { half: next < 0xb0 ? 'high' : 'low', offset: at }
  }
  return undefined
}
