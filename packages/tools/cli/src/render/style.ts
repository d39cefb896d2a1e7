import { styleText } from 'node:util'
import type { Io } from '../io.ts'

type Format = 'bold' | 'dim' | 'red' | 'green' | 'yellow' | 'cyan' | 'magenta' | 'blue'

/** Puts a format on text where the output is a terminal that shows it. */
export type Style = (format: Format, text: string) => string

/** Colours on a terminal only, and not where the user set `NO_COLOR`. */
export function styleFor(io: Io): Style {
  const isPlain = !io.isStdoutTty || (io.env['NO_COLOR'] ?? '') !== '' || io.env['TERM'] === 'dumb'
  if (isPlain) return (_, text) => text
  // Each line on its own, so that a pager that cuts lines keeps the format.
  return (format, text) =>
    text
      .split('\n')
      .map((line) => (line === '' ? line : styleText(format, line, { validateStream: false })))
      .join('\n')
}
