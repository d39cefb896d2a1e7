import { Session, messageId } from '@palimpsest/session'
import { expect, it } from 'vitest'
import { AgentLoop, type PromptRequest } from '../src/index.ts'
import { ScriptedModel } from '@palimpsest/testkit'
import { TestAdapter } from './harness.ts'

it('an adapter reads log and surface as they stood at request/start, whatever is appended before it is asked', async () => {
  const session = Session.create()
  const adapter = new TestAdapter()
  const given: PromptRequest[] = []
  const loop = new AgentLoop({
    session,
    model: new ScriptedModel(['One.', 'Two.']),
    adapter: {
      toPrompt: (request) => {
        given.push(request)
        return adapter.toPrompt(request)
      },
    },
    flush: () => {
      const id = messageId(`late-${session.length}`)
      const source = { kind: 'plugin', plugin: 'late' } as const
      const message = { id, role: 'user', content: [{ type: 'text', text: 'late' }], source } as const
      session.append('user/message', message, { surfaceOp: 'append' })
      return Promise.resolve()
    },
  })
  await loop.send('first')
  await loop.send('second')
  expect(given).toHaveLength(2)
  for (const { session: log } of given) {
    const start = log.length - 1
    expect(log.eventAt(start)?.type).toBe('request/start')
    expect(log.eventAt(log.length)).toBeUndefined()
    expect(log.events).toEqual(session.events.slice(0, log.length))
    expect(Math.max(...log.surface.nodes)).toBeLessThan(start)
  }
})
