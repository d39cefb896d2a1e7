import type { AgentHook, AgentHooks } from '@palimpsest/agent-loop'
import { expectTypeOf, it } from 'vitest'
import type { PreStepHook } from '../src/index.ts'

it('the loop offers the hook that the plugin needs', () => {
  interface Loop {
    on<Hook extends AgentHook>(hook: Hook, listener: AgentHooks[Hook]): () => void
  }
  expectTypeOf<Loop>().toExtend<PreStepHook>()
})
