import { isObject, isTooDeep, stringMember } from '../json.ts'
import type { LooseObject } from '../json.ts'
import { lineText, parseLine, readLines } from '../lines.ts'
import type { SourceLine } from '../lines.ts'

/** The text of a line as `import/raw` keeps it. */
export interface KeptLine {
  /** From 1. */
  readonly line: number
  /** Byte offset in the source. */
  readonly offset: number
  readonly text: string
  /** Present where the line is not UTF-8. */
  readonly encoding?: 'base64'
  /** Epoch milliseconds; absent where the line has none. */
  readonly time?: number
}

/** A line as a reader of a format gets it. */
export type ReadLine =
  | { readonly kind: 'object'; readonly kept: KeptLine; readonly value: LooseObject }
  /** `reason` is a `line/*` code of the README. */
  | { readonly kind: 'foreign'; readonly kept: KeptLine; readonly reason: string }
  | { readonly kind: 'blank'; readonly line: number }

/** Every line of a source, parsed where it is a JSON object. Lines never throw. */
export async function* readJsonLines(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<ReadLine> {
  for await (const line of readLines(chunks)) yield readJsonLine(line)
}

/** One line, parsed where it is a JSON object. Never throws. */
export function readJsonLine({ line, offset, bytes, terminated }: SourceLine): ReadLine {
  const text = lineText(bytes)
  if (text === undefined) {
    const kept = { line, offset, text: Buffer.from(bytes).toString('base64'), encoding: 'base64' } as const
    return { kind: 'foreign', kept, reason: 'line/not-utf8' }
  }
  if (text.trim() === '') return { kind: 'blank', line }
  const value = parseLine(text)
  const kept = { line, offset, text }
  if (value === undefined) return { kind: 'foreign', kept, reason: terminated ? 'line/not-json' : 'line/torn' }
  if (!isObject(value)) return { kind: 'foreign', kept, reason: 'line/not-object' }
  if (isTooDeep(value)) return { kind: 'foreign', kept, reason: 'line/too-deep' }
  const time = timeOf(value)
  return { kind: 'object', kept: time === undefined ? kept : { ...kept, time }, value }
}

/** The time of a line whose `timestamp` is an ISO date. Epoch milliseconds. */
export function timeOf(value: LooseObject): number | undefined {
  const time = Date.parse(stringMember(value, 'timestamp') ?? '')
  return Number.isSafeInteger(time) ? time : undefined
}
