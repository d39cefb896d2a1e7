import { fieldsOf } from './json.ts'

/** What a provider reads as prompt; limits and switches cost nothing. */
const promptFields = ['system', 'instructions', 'tools', 'messages', 'input']

/**
 * A crude count that anyone can repeat: the UTF-8 bytes of the prompt's JSON, divided by four, rounded up. No tokenizer,
 * so that an overflow happens at the same place in every run.
 */
export function countTokens(body: unknown): number {
  const fields = fieldsOf(body)
  const bytes = promptFields.reduce(
    (sum, name) => sum + (fields[name] === undefined ? 0 : Buffer.byteLength(JSON.stringify(fields[name]))),
    0,
  )
  return Math.ceil(bytes / 4)
}
