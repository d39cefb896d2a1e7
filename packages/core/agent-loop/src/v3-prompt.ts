import type { LanguageModelV3Prompt, LanguageModelV4Prompt } from '@ai-sdk/provider'

/** A prompt for models of the older interface. */
export function toV3Prompt(prompt: LanguageModelV4Prompt): LanguageModelV3Prompt {
  return prompt as LanguageModelV3Prompt
}
