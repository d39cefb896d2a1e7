const LENGTH = 200

/**
 * A user's first text as a listing shows it: one line of at most 200 characters, no half of a surrogate pair at its
 * end; undefined when nothing is left. For backends.
 */
export function promptLine(text: string): string | undefined {
  // Ten times the length leaves room for runs of white space, and keeps a pasted file from being walked through.
  const line = text
    .slice(0, LENGTH * 10)
    .replace(/\s+/g, ' ')
    .trim()
  return line === '' ? undefined : Array.from(line).slice(0, LENGTH).join('')
}
