import type { Finding } from '@palimpsest/session'
import type { Style } from './style.ts'
import { oneLine, wrap } from './text.ts'

/** Whether findings make the command end with exit code 1. What is only `info` does not. */
export function areBad(findings: readonly Finding[]): boolean {
  return findings.some(({ severity }) => severity !== 'info')
}

const colours = { error: 'red', warning: 'yellow', info: 'blue' } as const

/** Findings for people: what is wrong, where, and which command mends it. */
export function findingLines(findings: readonly Finding[], columns: number, style: Style): string {
  return findings
    .map(({ code, severity, seq, message, fix }) => {
      const place = seq === undefined ? '' : ` at event ${seq}`
      const head = `  ${style(colours[severity], severity)} ${style('bold', code)}${place}`
      const text = wrap(oneLine(message), Math.max(40, columns - 4)).map((line) => `    ${line}`)
      const way = fix === undefined ? [] : [`    ${style('dim', 'mend it:')} ${oneLine(fix)}`]
      return [head, ...text, ...way].join('\n')
    })
    .map((line) => `${line}\n`)
    .join('')
}
