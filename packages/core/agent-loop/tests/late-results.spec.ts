import { Session, type SessionEvent, SessionStore, interruptedTurnClosers } from '@palimpsest/session'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { defineTool } from '../src/index.ts'
import { type Rig, rig } from './harness.ts'

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setImmediate(resolve))
}

/** The session of another process: the events as a store gives them back, repaired. */
function resumed({ header }: Session, events: readonly SessionEvent[]): Session {
  const stored = structuredClone([...events, ...interruptedTurnClosers(events)])
  return Session.restore({ header, events: stored, inheritedEventCount: 0 })
}

/** What the model was told late: the tool that is named, and what came. */
const told = (one: Rig): unknown[] =>
  one.of('user/message').flatMap(({ data: { source, content } }) => {
    if (source.kind !== 'plugin' || source['about'] !== 'late-result') return []
    const text = content.map((block) => (block.type === 'text' ? block.text : '')).join('\n')
    expect(text).toContain(JSON.stringify(source['tool']))
    return [[source['tool'], content.at(-1)]]
  })
const text = (value: string): { type: string; text: string } => ({ type: 'text', text: value })

/** `deploy` ran out of time as call_0, and then `read` was answered as call_0. */
async function reused(): Promise<{ readonly one: Rig; readonly release: () => Promise<void> }> {
  let resolve: (output: string) => void = () => undefined
  const output = new Promise<string>((take) => (resolve = take))
  const one = rig({
    tools: [
      defineTool({ name: 'deploy', inputSchema: z.object({}), timeoutMs: 1, execute: () => output }),
      defineTool({ name: 'read', inputSchema: z.object({}), execute: () => 'file' }),
    ],
    script: [
      { parts: [{ call: 'deploy', id: 'call_0' }] },
      { parts: [{ call: 'read', id: 'call_0' }] },
      'Read.',
      'I see.',
      'Yes.',
    ],
  })
  await one.send('go')
  const release = async (): Promise<void> => {
    resolve('deployed')
    await until(() => one.of('tool/late-result').length === 1)
  }
  return { one, release }
}

describe('late results of calls whose id came back', () => {
  it('a late result names the tool of its own call, and is told once', async () => {
    const { one, release } = await reused()
    await release()
    await one.send('and now?')
    await one.send('sure?')
    expect(told(one)).toEqual([['deploy', text('deployed')]])
  })

  it('a resume and a fork tell it of the same call, once each', async () => {
    const { one, release } = await reused()
    const before = one.session.length - 1
    await release()
    const { session } = one
    for (const other of [resumed(session, session.events), new SessionStore().fork(session)]) {
      const again = rig({ session: other, script: ['I see.', 'Yes.'] })
      await again.send('and now?')
      await again.send('sure?')
      expect(told(again)).toEqual([['deploy', text('deployed')]])
    }
    const early = rig({ session: new SessionStore().fork(session, before), script: ['Nothing yet.'] })
    await early.send('and now?')
    expect(told(early)).toEqual([])
  })

  it('a late result takes nothing from a finished result that a crash kept from its place', async () => {
    const { one } = await reused()
    let finish = (): void => undefined
    const slow = (): Promise<string> => new Promise((resolve) => (finish = () => resolve('slow')))
    const next = rig({
      session: resumed(one.session, one.session.events),
      tools: [
        defineTool({ name: 'slow', inputSchema: z.object({}), execute: slow }),
        defineTool({ name: 'read', inputSchema: z.object({}), execute: () => 'second file' }),
      ],
      script: [
        {
          parts: [
            { call: 'slow', id: 'call_1' },
            { call: 'read', id: 'call_0' },
          ],
        },
        'Done.',
      ],
    })
    const turn = next.send('more')
    await until(() => next.of('tool/progress').length === 1)
    const crashed = [...next.events()]
    finish()
    await turn

    for (const seen of ['by a resume', 'as it comes']) {
      let session = resumed(one.session, crashed)
      const live = rig({ session, script: ['I see.'] })
      const [deploy] = live.of('tool/call')
      if (deploy === undefined) throw new Error('no call')
      const { turn: at, step, callId } = deploy.data
      session.append('tool/late-result', { turn: at, step, callId, content: [{ type: 'text', text: 'deployed' }] })
      if (seen === 'by a resume') session = resumed(session, session.events)
      const again = seen === 'by a resume' ? rig({ session, script: ['I see.', 'Yes.'] }) : live
      await again.send('what happened?')
      expect(told(again)).toEqual([
        ['deploy', text('deployed')],
        ['read', text('second file')],
      ])
    }
  })

  it('progress of an older call is no result of the one that has its id now', async () => {
    const { one } = await reused()
    let finish = (): void => undefined
    const slow = (): Promise<string> => new Promise((resolve) => (finish = () => resolve('slow')))
    const next = rig({
      session: resumed(one.session, one.session.events),
      tools: [defineTool({ name: 'slow', inputSchema: z.object({}), execute: slow })],
      script: [{ parts: [{ call: 'slow', id: 'call_0' }] }, 'Done.'],
    })
    const turn = next.send('more')
    await until(() => next.of('tool/call').length === 3)
    const [deploy] = next.of('tool/call')
    if (deploy === undefined) throw new Error('no call')
    const { turn: at, step, callId } = deploy.data
    const content = [{ type: 'text' as const, text: 'of deploy' }]
    const data = { turn: at, step, callId, content, final: true }
    next.session.append('tool/progress', data)
    const crashed = [...next.events()]
    finish()
    await turn
    const again = rig({ session: resumed(one.session, crashed), script: ['I see.'] })
    await again.send('what happened?')
    expect(told(again)).toEqual([])
  })
})
