import type { Fault } from './rule.ts'
import { stringOf } from './json.ts'

/** The fault of a function name; `place` as in `tools[0].function.name`. */
export function nameFault(name: unknown, place: string): Fault | undefined {
  const text = stringOf(name)
  if (text.length > 64) {
    return {
      message: `Invalid '${place}': string too long. Expected a string with maximum length 64, but got a string with length ${text.length} instead.`,
      param: place,
      code: 'string_above_max_length',
    }
  }
  return /^[a-zA-Z0-9_-]+$/.test(text)
    ? undefined
    : {
        message: `Invalid '${place}': string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'.`,
        param: place,
        code: 'invalid_value',
      }
}

/** Reasoning models refuse sampling; the chat variants of their families do not reason. */
export function isReasoningModel(model: string): boolean {
  return /^(o\d|gpt-[5-9])/.test(model) && !model.includes('chat')
}
