const OPEN = '<earlier-conversation>'
const CLOSE = '</earlier-conversation>'
const NOTICE =
  'The conversation before this point was replaced by this summary of it. Go on from here; what was said after it follows.'

/** A tag of the frame, however it is spaced or cased. */
const tag = /<(?=\s*\/?\s*earlier-conversation)/gi

/**
 * A summary as the model reads it: in a fixed frame that says what it stands for. A text that holds the frame's own tags
 * has them defused, so that nothing in it can end the frame. SPEC 7.1.
 */
export function frameSummary(text: string): string {
  return `${OPEN}\n${NOTICE}\n\n${text.replaceAll(tag, '(')}\n${CLOSE}`
}

/** The text of a framed summary; any other text as it is. */
export function unframeSummary(framed: string): string {
  const [start, end] = [`${OPEN}\n${NOTICE}\n\n`, `\n${CLOSE}`]
  return framed.startsWith(start) && framed.endsWith(end) ? framed.slice(start.length, -end.length) : framed
}
