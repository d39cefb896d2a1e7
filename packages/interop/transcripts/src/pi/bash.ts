import { stringMember } from '../json.ts'
import type { LooseObject } from '../json.ts'

const noOutput = '(no output)'

/**
 * What a model reads of a command that the user ran: the command, its output, and how it ended. The file holds the parts
 * only, so the form is ours and fixed.
 */
export function bashText(execution: LooseObject): string {
  const output = stringMember(execution, 'output') ?? ''
  return `${headOf(execution)}${output === '' ? noOutput : output}${tailOf(execution)}`
}

/** The output in a text of that form; `undefined` for any other text. */
export function bashOutput(text: string, execution: LooseObject): string | undefined {
  const [head, tail] = [headOf(execution), tailOf(execution)]
  const output = text.slice(head.length, text.length - tail.length)
  return output !== '' && `${head}${output}${tail}` === text ? output : undefined
}

const headOf = (execution: LooseObject): string =>
  `The user ran a command:\n${stringMember(execution, 'command') ?? ''}\n\n`

function tailOf(execution: LooseObject): string {
  const exitCode = execution['exitCode']
  const path = stringMember(execution, 'fullOutputPath')
  const ends =
    execution['cancelled'] === true ? 'Cancelled' : typeof exitCode === 'number' ? `Exit code ${exitCode}` : undefined
  const cut =
    execution['truncated'] === true ? `Truncated${path === undefined ? '' : `: the whole is in ${path}`}` : undefined
  return [ends, cut].flatMap((line) => (line === undefined ? [] : [`\n\n${line}`])).join('')
}
