import { AgentLoop, type AgentTool, type ModelAdapter } from '@palimpsest/agent-loop'
import { type Message, reconstructRequest, Session } from '@palimpsest/session'
import { ScriptedModel } from '@palimpsest/testkit'
import { recordsOf } from '@palimpsest/workspace-context'
import { expect, it } from 'vitest'
import { MemoryFiles } from './memory-files.ts'
import { quotationsIn, quotedNow, reopened, textOf } from './quotations.ts'
import { compact, contextOf } from './sessions.ts'

const model = (): ScriptedModel =>
  new ScriptedModel([{ parts: [{ call: 'read', input: { path: 'lib/a.ts' } }] }, 'Read.', 'Again.', 'And again.'])

/** What each request said. */
class Seen implements ModelAdapter {
  readonly requests: (readonly Message[])[] = []
  toPrompt({ messages }: Parameters<ModelAdapter['toPrompt']>[0]): ReturnType<ModelAdapter['toPrompt']> {
    this.requests.push(messages)
    return { prompt: [{ role: 'user', content: [{ type: 'text', text: `${messages.length} messages` }] }] }
  }
  quoted(): readonly string[][] {
    return this.requests.map((messages) =>
      messages
        .filter((message) => recordsOf(message) !== undefined)
        .flatMap((message) => quotationsIn(textOf(message)).map(({ path, text }) => `${path}: ${text}`)),
    )
  }
}

it('with the reference loop every request holds each instruction file once, as it is, through touches, changes, compaction and resume', async () => {
  const files = new MemoryFiles({ 'AGENTS.md': 'Be kind.', 'lib/AGENTS.md': 'Be fast.' })
  const read: AgentTool = { name: 'read', inputSchema: { type: 'object' }, execute: () => 'text' }
  const adapter = new Seen()
  const scripted = model()
  const start = (session: Session): AgentLoop => {
    const loop = new AgentLoop({ session, model: scripted, adapter, system: 'You are terse.', tools: [read] })
    contextOf(files).attach(loop)
    return loop
  }
  const session = Session.create()
  const loop = start(session)
  await loop.send('Look at lib/a.ts.')
  files.files.set('AGENTS.md', 'Be brief.')
  await loop.send('Once more.')
  await loop.close()
  compact(session, 1, session.surface.nodes.length - 1)
  const resumed = reopened(session)
  const second = start(resumed)
  await second.send('And now?')
  await second.close()
  expect(adapter.quoted()).toEqual([
    ['AGENTS.md: Be kind.'],
    ['AGENTS.md: Be kind.', 'lib/AGENTS.md: Be fast.'],
    ['AGENTS.md: Be brief.', 'lib/AGENTS.md: Be fast.'],
    // Only the root's: that lib was touched is what another process knew.
    ['AGENTS.md: Be brief.'],
  ])
  expect(quotedNow(resumed)).toHaveLength(1)
  const starts = resumed.events.filter(({ type }) => type === 'request/start')
  const rebuilt = starts.map(({ seq }) => reconstructRequest(resumed.events, seq).messages)
  expect(rebuilt).toEqual(adapter.requests)
})
