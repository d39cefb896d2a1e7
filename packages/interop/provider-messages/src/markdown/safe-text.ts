/** What a piece of Markdown could be taken for inside a line: escaped with a backslash. */
const special = /[\\`*_{}[\]<>#|~&!]/g
const breaks = /[\u0000-\u001f\u007f\u2028\u2029]+/g

/** Text within a line: one line, at most 200 characters, with no markup of its own. */
export function inline(text: string): string {
  const line = text.replace(breaks, ' ').trim()
  const characters = Array.from(line.length > 800 ? line.slice(0, 800) : line)
  const short = characters.length > 200 ? `${characters.slice(0, 200).join('')}…` : line
  return short.replace(special, '\\$&')
}

/** A fenced block around text, byte for byte: its fence is longer than any within. */
export function fenced(text: string, language: 'text' | 'json'): string {
  let longest = 2
  for (const [run] of text.matchAll(/`{3,}/g)) longest = Math.max(longest, run.length)
  const fence = '`'.repeat(longest + 1)
  return `${fence}${language}\n${text}\n${fence}`
}

/**
 * What somebody said, byte for byte: quoted, so that it reads as the Markdown that it is, or fenced where raw HTML or a
 * control character could lead out of the quote.
 */
export function prose(text: string): string {
  const isRisky = text.trim() === '' || /[<\u0000-\u0008\u000b-\u001f\u007f]/.test(text)
  return isRisky ? fenced(text, 'text') : `> ${text.replaceAll('\n', '\n> ')}`
}

/** The target of a link: nothing in it can end it. */
export function linkTarget(url: string): string {
  const escaped = url.replace(/[^\u0021-\u007e]|[<>()\\"'`]/gu, (character) => {
    try {
      return character === '(' ? '%28' : character === ')' ? '%29' : encodeURIComponent(character)
    } catch {
      return '%EF%BF%BD'
    }
  })
  return `<${escaped}>`
}
