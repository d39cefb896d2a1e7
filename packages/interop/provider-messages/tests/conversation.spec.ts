import { expect, it } from 'vitest'
import { CallIds } from '../src/shared/call-ids.ts'
import { planConversation } from '../src/shared/conversation.ts'
import { Images } from '../src/shared/images.ts'
import { ToolNames } from '../src/shared/tool-names.ts'
import { assistant, reasoning, text, user } from './fixtures/messages.ts'

it('an assistant with reasoning alone is left out for every target, also for one that keeps reasoning', () => {
  const target = {
    callIds: new CallIds(40),
    toolNames: new ToolNames(64),
    images: new Images(new Set(), { images: 0 }),
    takesImages: () => false,
    keepsReasoning: () => true,
  }
  const { turns } = planConversation(
    [user(), assistant([reasoning('hm')]), assistant([reasoning('hm'), text('so')])],
    target,
  )
  expect(turns.map((turn) => turn.role)).toEqual(['user', 'assistant'])
})
