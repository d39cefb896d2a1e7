import { cutAfter, cutBefore } from './cut.ts'
import { headEnd, tailStart, utf8Length } from './utf8.ts'

export interface TextBudget {
  /** UTF-8 bytes of all that stays, the marker included. */
  readonly maxBytes: number
  /** The event that has the full result, by the seq under which it was first recorded; the marker names it. */
  readonly seq: number
}

/**
 * A text cut to head, marker and tail. Never splits a code point; cuts between lines or graphemes where that is cheap.
 * What comes back is the text itself, or strictly smaller: within the budget, or the bare marker where the budget holds no
 * more. Pruning it again with the same budget gives the same text; with a smaller one the marker counts on. Pure. SPEC 7.2.
 */
export function pruneText(text: string, budget: TextBudget): string {
  return pruneTexts([text], budget)[0] ?? text
}

/**
 * The same for several texts that are read as one: one marker, one budget. A text of which nothing stays is `undefined`.
 */
export function pruneTexts(texts: readonly string[], { maxBytes, seq }: TextBudget): readonly (string | undefined)[] {
  const sizes = texts.map(utf8Length)
  const total = sum(sizes)
  if (total <= maxBytes) return texts
  const earlier = findMarker(texts, seq)
  const content = total - (earlier?.length ?? 0)
  const room = Math.max(0, maxBytes - markerOf(content + (earlier?.leftOut ?? 0), seq).length)
  const { head, tail } = shares(room, earlier === undefined ? undefined : sidesOf(texts, earlier))
  const from = walkHead(texts, sizes, head)
  const to = walkTail(texts, sizes, tail)
  const leftOut = content - from.bytes - to.bytes + (earlier?.leftOut ?? 0)
  const marker = markerOf(leftOut, seq)
  if (from.bytes + marker.length + to.bytes >= total) return texts
  return texts.map((text, index) => {
    if (index < from.index || index > to.index) return text
    const start = index === from.index ? text.slice(0, from.offset) + marker : ''
    const end = index === to.index ? text.slice(to.offset) : ''
    return start + end === '' ? undefined : start + end
  })
}

/** Whether something was left out of these texts before. */
export function hasMarker(texts: readonly string[], seq: number): boolean {
  return findMarker(texts, seq) !== undefined
}

const sum = (numbers: readonly number[]): number => numbers.reduce((one, other) => one + other, 0)

/** A text may quote a marker with any count: what is written is always what is recognised. */
const MAX_COUNT = 999_999_999_999

/** ASCII, so that its length is its bytes. Starts and ends with a line break, since it may stand inside a line. */
function markerOf(leftOut: number, seq: number): string {
  return `\n[${Math.min(leftOut, MAX_COUNT)} bytes left out here; event ${seq} of the session log has the full result]\n`
}

interface FoundMarker {
  readonly index: number
  readonly offset: number
  readonly length: number
  readonly leftOut: number
}

function findMarker(texts: readonly string[], seq: number): FoundMarker | undefined {
  const pattern = new RegExp(
    String.raw`\n\[(\d{1,12}) bytes left out here; event ${seq} of the session log has the full result\]\n`,
  )
  for (const [index, text] of texts.entries()) {
    const match = pattern.exec(text)
    if (match !== null) return { index, offset: match.index, length: match[0].length, leftOut: Number(match[1]) }
  }
  return undefined
}

/** Bytes before and after an earlier marker: a head must not reach past it, nor a tail. */
function sidesOf(texts: readonly string[], { index, offset, length }: FoundMarker): { before: number; after: number } {
  const text = texts[index] ?? ''
  const before = [...texts.slice(0, index), text.slice(0, offset)]
  const after = [text.slice(offset + length), ...texts.slice(index + 1)]
  return { before: sum(before.map(utf8Length)), after: sum(after.map(utf8Length)) }
}

/** Half the room each; what one side does not need goes to the other. */
function shares(
  room: number,
  { before, after }: { readonly before: number; readonly after: number } = { before: Infinity, after: Infinity },
): { readonly head: number; readonly tail: number } {
  const tail = Math.min(after, Math.max(Math.floor(room / 2), room - before))
  return { head: Math.min(before, room - tail), tail }
}

interface Cut {
  readonly index: number
  readonly offset: number
  /** Kept on this side of the cut. */
  readonly bytes: number
}

function walkHead(texts: readonly string[], sizes: readonly number[], budget: number): Cut {
  let kept = 0
  let index = 0
  while (index < texts.length - 1 && kept + (sizes[index] ?? 0) <= budget) kept += sizes[index++] ?? 0
  const text = texts[index] ?? ''
  const offset = cutBefore(text, headEnd(text, budget - kept))
  return { index, offset, bytes: kept + utf8Length(text.slice(0, offset)) }
}

function walkTail(texts: readonly string[], sizes: readonly number[], budget: number): Cut {
  let kept = 0
  let index = texts.length - 1
  while (index > 0 && kept + (sizes[index] ?? 0) <= budget) kept += sizes[index--] ?? 0
  const text = texts[index] ?? ''
  const offset = cutAfter(text, tailStart(text, budget - kept))
  return { index, offset, bytes: kept + utf8Length(text.slice(offset)) }
}
