import type { Message, Session } from '@palimpsest/session'
import { describe, expect, it } from 'vitest'
import { checkProviders } from '../src/checks/providers.ts'
import { palimpsest, said, scratch, storeEvents } from './support.ts'

/** Stands in for a session that derives what no session can. */
function derives(...messages: object[]): Session {
  return { deriveMessages: () => messages as Message[], events: [], surface: { nodes: [] } } as unknown as Session
}

describe('the check by provider rules', () => {
  it('names the provider and the rule that would refuse the messages', () => {
    const orphan = {
      id: 'r',
      role: 'user',
      content: [{ type: 'tool-result', toolCallId: 'nobody', content: [] }],
      source: { kind: 'tool', callId: 'nobody' },
    }
    const found = checkProviders(derives(orphan), () => undefined)
    expect(found).toMatchObject([
      { code: 'anthropic/messages/unknown-call', severity: 'error' },
      { code: 'openai-chat/messages/unknown-call', severity: 'error' },
      { code: 'openai-responses/messages/unknown-call', severity: 'error' },
      { code: 'deepseek/messages/unknown-call', severity: 'error' },
    ])
  })

  it('takes a list over the budget of a provider for an info', async () => {
    const root = scratch()
    await storeEvents(root, 's', [said(0, 'x'.repeat(34_000_000))])
    const { exit, json } = await palimpsest(['verify', 's', '--json'], { root })
    expect(exit).toBe(0)
    expect(json).toMatchObject({ ok: true, findings: [{ code: 'anthropic/budget/bytes', severity: 'info' }] })
  })
})
