import { Session, TOOL_OUTCOME_UNKNOWN, interruptedTurnClosers } from '@palimpsest/session'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { AgentLoopError, type AgentTool, defineTool } from '../src/index.ts'
import { logProblems, rig } from './harness.ts'

/** The session that a crash after `count` events leaves, repaired. */
function crashed(session: Session, count: number): Session {
  const prefix = session.events.slice(0, count)
  const events = structuredClone([...prefix, ...interruptedTurnClosers(prefix)])
  return Session.restore({ header: session.header, events, inheritedEventCount: 0 })
}

function counting(): { runs: () => number; tools: AgentTool[] } {
  let runs = 0
  const execute = ({ n }: { n: number }): string => `${String(n)} ${String((runs += 1))}`
  return {
    runs: () => runs,
    tools: [defineTool({ name: 'count', inputSchema: z.object({ n: z.number() }), execute }) as AgentTool],
  }
}

describe('resume', () => {
  it('RE-01: after a crash at any event the turn is closed, numbering goes on, and no body runs again', async () => {
    const { runs, tools } = counting()
    const one = rig({
      tools,
      system: 'Count.',
      script: [
        {
          parts: [
            { call: 'count', input: { n: 1 } },
            { call: 'count', input: { n: 2 } },
          ],
        },
        { parts: ['Two.', { call: 'count', input: { n: 3 } }] },
        'Three.',
        'Bye.',
      ],
    })
    await one.send('count to three')
    await one.send('goodbye')
    const done = runs()
    for (let count = 0; count <= one.session.length; count += 1) {
      const session = crashed(one.session, count)
      const turns = session.events.filter(({ type }) => type === 'turn/start').length
      const again = rig({ session, tools, system: 'Count.', script: ['Resumed.'] })
      expect(session.length).toBe(session.firstLiveSeq)
      const result = await again.send('go on')
      expect(result).toMatchObject({ turn: turns + 1, reason: { kind: 'completed' } })
      expect(logProblems(session)).toEqual([])
      expect(runs()).toBe(done)
    }
  })

  it('the header of a resumed session is written again only where it differs', async () => {
    const one = rig({ script: ['One.'], settings: { temperature: 0 } })
    await one.send('first')
    const same = rig({
      session: crashed(one.session, one.session.length),
      script: ['Two.'],
      settings: { temperature: 0 },
    })
    await same.send('second')
    expect(same.of('request/header').map(({ data }) => data.reason)).toEqual(['initial'])
    const warm = rig({
      session: crashed(same.session, same.session.length),
      script: ['Three.', 'Four.'],
      settings: { temperature: 1 },
    })
    await warm.send('third')
    warm.loop.on('agent/request', ({ header }) => ({ ...header, config: { ...header.config, maxTokens: 9 } }))
    await warm.send('fourth')
    expect(warm.of('request/header').map(({ data }) => data.reason)).toEqual(['initial', 'resume', 'change'])
    expect(warm.model.requests.at(-1)).toMatchObject({ temperature: 1, maxOutputTokens: 9 })
    expect(warm.of('request/context')).toHaveLength(1)
  })

  it('a session with something open is refused', async () => {
    const one = rig({ script: ['One.'] })
    await one.send('first')
    const events = structuredClone(one.session.events.slice(0, 4))
    const session = Session.restore({ header: one.session.header, events, inheritedEventCount: 0 })
    expect(() => rig({ session })).toThrow(AgentLoopError)
    expect(() => rig({ session })).toThrow(expect.objectContaining({ code: 'loop/unrepaired' }) as Error)
  })

  it('a finished result that waited for its place when the process died is delivered late', async () => {
    let finish = (): void => undefined
    const one = rig({
      tools: [
        defineTool({
          name: 'slow',
          inputSchema: z.object({}),
          execute: () => new Promise<string>((resolve) => (finish = () => resolve('slow'))),
        }),
        defineTool({ name: 'fast', inputSchema: z.object({}), execute: () => 'fast result' }),
      ],
      script: [{ parts: [{ call: 'slow' }, { call: 'fast' }] }, 'Done.'],
    })
    const turn = one.send('go')
    while (one.of('tool/progress').length === 0) await new Promise((resolve) => setImmediate(resolve))
    const session = crashed(one.session, one.session.length)
    finish()
    await turn

    expect(session.events.filter((event) => event.type === 'tool/result').map(({ data }) => data.error?.code)).toEqual([
      TOOL_OUTCOME_UNKNOWN,
      TOOL_OUTCOME_UNKNOWN,
    ])
    const again = rig({ session, script: ['I see.', 'Yes.'] })
    await again.send('what happened?')
    await again.send('sure?')
    const late = again.of('tool/late-result')
    expect(late.map(({ data }) => data.content)).toEqual([[{ type: 'text', text: 'fast result' }]])
    const cites = again.of('user/message').filter(({ sourceEventSeqs }) => sourceEventSeqs !== undefined)
    expect(cites.map(({ sourceEventSeqs }) => sourceEventSeqs)).toEqual([[late[0]?.seq]])

    const third = rig({ session: crashed(session, session.length), script: ['Yes.'] })
    await third.send('really?')
    expect(third.of('tool/late-result')).toHaveLength(1)
  })

  it('a late result that is in the log and not delivered is delivered by a resume', async () => {
    const one = rig({ script: ['One.'] })
    await one.send('first')
    const late = one.session.append('tool/late-result', {
      turn: 1,
      step: 1,
      callId: 'gone' as never,
      content: [{ type: 'text', text: 'late' }],
    })
    const again = rig({ session: crashed(one.session, one.session.length), script: ['Two.'] })
    await again.send('second')
    expect(again.of('user/message').filter(({ sourceEventSeqs }) => sourceEventSeqs?.includes(late.seq))).toHaveLength(
      1,
    )
  })
})
