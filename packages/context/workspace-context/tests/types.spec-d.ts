import type { AgentLoop } from '@palimpsest/agent-loop'
import type { ContextHost } from '@palimpsest/workspace-context'
import { expectTypeOf, it } from 'vitest'

it('the reference loop is a loop that the plugin can be attached to', () => {
  expectTypeOf<AgentLoop>().toExtend<ContextHost>()
})
