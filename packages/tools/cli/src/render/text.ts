/**
 * Text of a log is untrusted: a terminal must not act on it. Control characters, bidirectional overrides and lone
 * surrogates are shown by a stand-in.
 */
export function printable(text: string): string {
  return text
    .replaceAll(/\p{Surrogate}/gu, '\uFFFD')
    .replaceAll(/[\u0000-\u0008\u000B-\u001F]/g, (unit) => String.fromCharCode(0x2400 + unit.charCodeAt(0)))
    .replaceAll(/[\u007F-\u009F\u200E\u200F\u202A-\u202E\u2066-\u2069]/g, '\uFFFD')
}

/** The text in one line. */
export function oneLine(text: string): string {
  return printable(text.trim().replaceAll(/\s+/g, ' '))
}

/** The text as one word of a command line: ids come from files of others, and commands that are shown get copied. */
export function argument(text: string): string {
  if (/^[\w.@%+=:,/][\w.@%+=:,/~-]*$/.test(text)) return text
  const word = `'${text.replaceAll("'", "'\\''")}'`
  return text.startsWith('-') ? `-- ${word}` : word
}

const wide =
  /[\u1100-\u115F\u2E80-\u303E\u3041-\uA4CF\uAC00-\uD7A3\uF900-\uFAFF\uFE30-\uFE6F\uFF00-\uFF60\uFFE0-\uFFE6]|\p{Emoji_Presentation}/u
const formats = /\u001B\[[0-9;]*m/g
const segments = new Intl.Segmenter(undefined, { granularity: 'grapheme' })

/** Columns that a terminal takes for a line. */
export function widthOf(text: string): number {
  const plain = text.replaceAll(formats, '')
  if (/^[\u0020-\u007E]*$/.test(plain)) return plain.length
  let width = 0
  for (const { segment } of segments.segment(plain)) width += wide.test(segment) ? 2 : 1
  return width
}

/** The begin of an unformatted line in at most `columns`, with an ellipsis where something was cut. */
export function clip(text: string, columns: number): string {
  if (text.length <= columns && widthOf(text) <= columns) return text
  let width = 0
  let kept = ''
  for (const { segment } of segments.segment(text)) {
    width += wide.test(segment) ? 2 : 1
    if (width > columns - 1) break
    kept += segment
  }
  return `${kept}…`
}

/** Fills up with spaces. */
export function pad(text: string, columns: number): string {
  return text + ' '.repeat(Math.max(0, columns - widthOf(text)))
}

export function padStart(text: string, columns: number): string {
  return ' '.repeat(Math.max(0, columns - widthOf(text))) + text
}

/** Wraps text into lines of at most `columns`, at spaces where there are any. */
export function wrap(text: string, columns: number): string[] {
  return text.split('\n').flatMap((paragraph) => {
    const lines: string[] = []
    let line = ''
    for (const word of paragraph.split(' ')) {
      const joined = line === '' ? word : `${line} ${word}`
      if (widthOf(joined) <= columns || line === '') line = joined
      else {
        lines.push(line)
        line = word
      }
    }
    return [...lines, line]
  })
}

/** `1 event`, `2 events`. */
export function count(n: number, thing: string): string {
  const many = thing.endsWith('y') ? `${thing.slice(0, -1)}ies` : thing.endsWith('ch') ? `${thing}es` : `${thing}s`
  return `${n.toLocaleString('en-US')} ${n === 1 ? thing : many}`
}

/** A length in bytes for people. */
export function bytes(n: number): string {
  if (n < 1000) return `${n} B`
  if (n < 1_000_000) return `${(n / 1000).toFixed(1)} kB`
  if (n < 1_000_000_000) return `${(n / 1_000_000).toFixed(1)} MB`
  return `${(n / 1_000_000_000).toFixed(1)} GB`
}

/** A time for people, in UTC: `2026-01-31 13:05`. */
export function moment(time: number): string {
  const date = new Date(time)
  return Number.isNaN(date.getTime()) ? '-' : date.toISOString().slice(0, 16).replace('T', ' ')
}
