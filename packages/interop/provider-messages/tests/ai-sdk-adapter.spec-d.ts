import { languageModelAdapter, type FailureKind, type LanguageModelRequest } from '@palimpsest/provider-messages'
import type { FailureKind as LoopFailureKind, ModelAdapter, PromptRequest } from '@palimpsest/agent-loop'
import { expectTypeOf, test } from 'vitest'

test('languageModelAdapter() is a model adapter of the agent loop', () => {
  expectTypeOf(languageModelAdapter()).toExtend<ModelAdapter>()
  expectTypeOf<PromptRequest>().toExtend<LanguageModelRequest>()
  expectTypeOf<FailureKind>().toEqualTypeOf<LoopFailureKind>()
})
