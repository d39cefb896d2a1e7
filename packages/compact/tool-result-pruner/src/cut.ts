/** UTF-16 units to either side of a cut that are searched for the bounds of its grapheme. */
const REACH = 64

/** The cut at or before `index` that reads best: the end of a line where one is near, else of a grapheme. */
export function cutBefore(text: string, index: number): number {
  if (index <= 0 || index >= text.length) return index
  const line = text.lastIndexOf('\n', index - 1) + 1
  // A quarter of what is kept is a fair price for whole lines.
  if (line >= index * 0.75) return line
  return graphemeAt(text, index)?.start ?? index
}

/** The cut at or after `index` that reads best: the start of a line where one is near, else of a grapheme. */
export function cutAfter(text: string, index: number): number {
  if (index <= 0 || index >= text.length) return index
  const kept = text.length - index
  const line = text.slice(index - 1, index + Math.floor(kept / 4)).indexOf('\n')
  if (line >= 0) return index + line
  const grapheme = graphemeAt(text, index)
  return grapheme === undefined || grapheme.start === index ? index : grapheme.end
}

/** The grapheme that holds the unit at `index`; undefined when it reaches further than the search. CR LF is one. */
function graphemeAt(text: string, index: number): { readonly start: number; readonly end: number } | undefined {
  const from = Math.max(0, index - REACH)
  const near = text.slice(from, index + REACH)
  const found = new Intl.Segmenter('und').segment(near).containing(index - from)
  if (found === undefined) return undefined
  const start = from + found.index
  const end = start + found.segment.length
  const isCutOff = (start === from && from > 0) || (end === from + near.length && end < text.length)
  return isCutOff ? undefined : { start, end }
}
