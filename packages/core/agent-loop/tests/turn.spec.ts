import { expect, it } from 'vitest'
import { z } from 'zod'
import { defineTool } from '../src/index.ts'
import { rig } from './harness.ts'

const add = defineTool({
  name: 'add',
  description: 'Adds two numbers.',
  inputSchema: z.object({ a: z.number(), b: z.number() }),
  execute: ({ a, b }) => String(a + b),
})

it('a turn with a tool writes its events in the order of SPEC 7.4', async () => {
  const one = rig({
    system: 'You add.',
    tools: [add],
    script: [{ parts: ['Let me see.', { call: 'add', input: { a: 1, b: 2 } }] }, 'It is 3.'],
  })
  const result = await one.send('What is 1 + 2?')
  expect(result).toMatchObject({ turn: 1, steps: 2, reason: { kind: 'completed' }, text: 'It is 3.' })
  expect(one.types()).toEqual([
    'turn/start',
    'step/start',
    'system/message',
    'user/message',
    'request/context',
    'request/header',
    'request/start',
    'assistant/message',
    'tool/call',
    'tool/result',
    'step/end',
    'step/start',
    'request/start',
    'assistant/message',
    'step/end',
    'turn/end',
  ])
  const [call] = one.of('tool/call')
  const [answer] = one.of('tool/result')
  expect(answer?.sourceEventSeqs).toEqual([call?.seq])
  expect(answer?.data.message.content[0].content).toEqual([{ type: 'text', text: '3' }])
})
