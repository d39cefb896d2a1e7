import type { AgentLoop, ModelAdapter, PromptRequest } from '@palimpsest/agent-loop'
import type { CompactionEngine } from '@palimpsest/compact'
import type { BasicCompaction, CompactableLoop, PromptAdapter } from '@palimpsest/compact-basic'
import type { LanguageModelAdapter } from '@palimpsest/provider-messages'
import { expectTypeOf, it } from 'vitest'

it('the loop is one that compaction can be attached to', () => {
  expectTypeOf<AgentLoop>().toExtend<CompactableLoop>()
})

it("the loop's adapter writes the prompts of a summariser", () => {
  expectTypeOf<ModelAdapter>().toExtend<PromptAdapter>()
  expectTypeOf<LanguageModelAdapter>().toExtend<PromptAdapter>()
  expectTypeOf<Parameters<PromptAdapter['toPrompt']>[0]>().toEqualTypeOf<PromptRequest>()
})

it('the policy is an engine of the contract', () => {
  expectTypeOf<BasicCompaction>().toExtend<CompactionEngine>()
})
