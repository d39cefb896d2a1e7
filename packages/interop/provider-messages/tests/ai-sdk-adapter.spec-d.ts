import type { LanguageModelV3Prompt, LanguageModelV4Prompt } from '@ai-sdk/provider'
import { languageModelAdapter, type FailureKind, type LanguageModelRequest } from '@palimpsest/provider-messages'
import type { FailureKind as LoopFailureKind, ModelAdapter, PromptRequest } from '@palimpsest/agent-loop'
import { expectTypeOf, test } from 'vitest'

test('languageModelAdapter() is a model adapter of the agent loop', () => {
  expectTypeOf(languageModelAdapter()).toExtend<ModelAdapter>()
  expectTypeOf<PromptRequest>().toExtend<LanguageModelRequest>()
  expectTypeOf<FailureKind>().toEqualTypeOf<LoopFailureKind>()
})

declare const request: PromptRequest

test('without a version a prompt is one of V4; a loop gets that of its model', () => {
  const { toPrompt } = languageModelAdapter()
  const { session, header, messages } = request
  const either = toPrompt(request).then(({ prompt }) => prompt)
  const newer = toPrompt({ session, header, messages }).then(({ prompt }) => prompt)
  expectTypeOf(either).resolves.toEqualTypeOf<LanguageModelV4Prompt | LanguageModelV3Prompt>()
  expectTypeOf(newer).resolves.toEqualTypeOf<LanguageModelV4Prompt>()
})
