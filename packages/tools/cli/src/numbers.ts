import { CliError } from './exit.ts'

/** An integer of at least 0 from the command line. Throws `CliError` `option/invalid`. */
export function wholeNumber(option: string, text: string): number {
  const value = Number(text)
  if (/^\d+$/.test(text) && Number.isSafeInteger(value)) return value
  throw new CliError('option/invalid', `${option} is ${text}: expected a whole number`)
}
