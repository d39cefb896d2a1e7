import { Session } from '@palimpsest/session'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { AgentLoop, type AgentLoopOptions, defineTool } from '../src/index.ts'
import { type Rig, TestAdapter, rig } from './harness.ts'

const said = (one: Rig): string[] =>
  one.of('user/message').map(({ data }) => (data.content[0]?.type === 'text' ? data.content[0].text : ''))

describe('queues', () => {
  it('every send is a turn of its own, in order', async () => {
    const one = rig({ script: ['One.', 'Two.'] })
    const results = await Promise.all([one.loop.send('a'), one.loop.send('b')])
    await one.idle()
    expect(results.map(({ turn, text }) => [turn, text])).toEqual([
      [1, 'One.'],
      [2, 'Two.'],
    ])
  })

  it('a steer goes into the next step and keeps the turn going', async () => {
    const one = rig({ script: [{ parts: [{ run: () => one.loop.steer('wait') }, 'One.'] }, 'Two.'] })
    expect(await one.send('a')).toMatchObject({ turn: 1, steps: 2, text: 'Two.' })
    expect(said(one)).toEqual(['a', 'wait'])
  })

  it('a steer wakes an idle loop; an inject does not, and does not keep a turn going', async () => {
    const one = rig({ script: ['One.', { parts: [{ run: () => one.loop.inject('later') }, 'Two.'] }, 'Three.'] })
    one.loop.inject('note')
    expect(one.loop.isRunning).toBe(false)
    one.loop.steer('hey')
    expect(one.loop.isRunning).toBe(true)
    await one.idle()
    expect(said(one)).toEqual(['note', 'hey'])
    expect(await one.send('b')).toMatchObject({ turn: 2, steps: 1 })
    await one.send('c')
    expect(said(one)).toEqual(['note', 'hey', 'b', 'later', 'c'])
  })

  it('input that no log would take is refused at once', async () => {
    const one = rig()
    expect(() => one.loop.steer([{ type: 'reasoning', text: 'x' } as never])).toThrow('reasoning')
    await expect(one.loop.send({ id: '' } as never)).rejects.toMatchObject({ name: 'SessionAcceptanceError' })
    expect(one.events()).toEqual([])
  })

  it('an abort ends the running turn only; what is queued runs', async () => {
    const one = rig({ script: [{ parts: [{ run: () => one.loop.abort() }], ends: 'hang' }, 'Two.'] })
    const results = await Promise.all([one.loop.send('a'), one.loop.send('b')])
    await one.idle()
    expect(results.map(({ reason }) => reason.kind)).toEqual(['aborted', 'completed'])
  })

  it('an abort before the turn has begun keeps its input for the next one, behind the system head', async () => {
    const one = rig({ system: 'Be brief.', script: ['One.'] })
    const turn = one.loop.send('a')
    one.loop.abort()
    expect(await turn).toMatchObject({ steps: 0, reason: { kind: 'aborted' } })
    expect(one.types()).toEqual(['turn/start', 'system/message', 'user/message', 'turn/end'])
    await one.send('b')
    expect(said(one)).toEqual(['a', 'b'])
  })

  it('close aborts, refuses what is queued, and takes no more', async () => {
    const one = rig({ script: [{ ends: 'hang' }] })
    const first = one.loop.send('a')
    const second = one.loop.send('b')
    second.catch(() => undefined)
    while (one.model.requests.length === 0) await new Promise((resolve) => setImmediate(resolve))
    await one.loop.close()
    expect((await first).reason).toEqual({ kind: 'aborted', cause: 'closed' })
    await expect(second).rejects.toMatchObject({ code: 'loop/closed' })
    await expect(one.loop.send('c')).rejects.toMatchObject({ code: 'loop/closed' })
    expect(() => one.loop.inject('d')).toThrow('closed')
  })

  it('the reason of an AbortSignal is a cause: its message stands in turn/end', async () => {
    const one = rig({ script: [{ ends: 'hang', parts: [{ run: () => one.loop.abort(AbortSignal.abort().reason) }] }] })
    expect((await one.send('a')).reason).toEqual({ kind: 'aborted', cause: 'This operation was aborted' })
  })

  it('two loops of one session take turns', async () => {
    const session = Session.create()
    const slow = defineTool({ name: 'slow', inputSchema: z.object({}), execute: () => Promise.resolve('done') })
    const one = rig({ session, tools: [slow], script: [{ parts: [{ call: 'slow' }] }, 'One.'] })
    const other = rig({ session, tools: [slow], script: [{ parts: [{ call: 'slow' }] }, 'Two.'] })
    const first = one.send('a')
    const second = other.send('b')
    expect((await Promise.all([first, second])).map(({ turn, text }) => [turn, text])).toEqual([
      [1, 'One.'],
      [2, 'Two.'],
    ])
  })

  it('a closed loop starts no turn on a session that another is using', async () => {
    const session = Session.create()
    const one = rig({ session, script: [{ ends: 'hang' }] })
    const other = rig({ session })
    const first = one.send('a')
    const second = other.loop.send('b')
    second.catch(() => undefined)
    while (one.model.requests.length === 0) await new Promise((resolve) => setImmediate(resolve))
    const closed = other.loop.close()
    one.loop.abort()
    await Promise.all([first, closed])
    await expect(second).rejects.toMatchObject({ code: 'loop/closed' })
    expect(one.of('turn/start')).toHaveLength(1)
  })

  it('a turn that needs too many steps ends with loop/max-steps', async () => {
    const again = defineTool({ name: 'again', inputSchema: z.object({}), execute: () => 'once more' })
    const one = rig({ tools: [again], maxSteps: 2, script: () => ({ parts: [{ call: 'again' }] }) })
    expect(await one.send('go')).toMatchObject({ steps: 2, reason: { failure: { code: 'loop/max-steps' } } })
  })

  it.each<Partial<AgentLoopOptions>>([
    { maxSteps: 0 },
    { abortGraceMs: 2 ** 31 },
    { retry: { maxDelayMs: -1 } },
    { model: 'openai/gpt-5' as never },
    { model: { specificationVersion: 'v2', provider: 'old', modelId: 'old-1' } as never },
  ])('%o is refused', (options) => {
    const make = (): AgentLoop =>
      new AgentLoop({ session: Session.create(), model: rig().model, adapter: new TestAdapter(), ...options })
    expect(make).toThrow(expect.objectContaining({ code: 'options/invalid' }) as Error)
  })
})

describe('the system head', () => {
  it('is the first surface event, empty without a prompt, and follows a change by replacement', async () => {
    const one = rig({ script: ['One.'] })
    await one.send('a')
    expect(one.session.eventAt(one.session.surface.nodes[0] ?? -1)).toMatchObject({
      type: 'system/message',
      data: { message: { content: [] } },
    })
    const two = rig({ session: one.session, system: 'Be brief.', script: ['Two.', 'Three.'] })
    await two.send('b')
    await two.send('c')
    expect(two.of('system/message').map(({ surfaceOp }) => surfaceOp)).toEqual([
      'append',
      { op: 'replace', startSeq: 2, endSeq: 2 },
    ])
    expect(two.prompts()[1]?.[0]).toEqual({ role: 'system', content: 'Be brief.' })
  })

  it('where the log has no head the prompt goes into the header', async () => {
    const session = Session.create()
    session.append(
      'user/message',
      { id: 'u' as never, role: 'user', content: [{ type: 'text', text: 'old' }], source: { kind: 'user' } },
      { surfaceOp: 'append' },
    )
    const one = rig({ session, system: 'Be brief.', script: ['One.'] })
    await one.send('a')
    expect(one.of('system/message')).toEqual([])
    expect(one.of('request/header')[0]?.data.header.config['instructions']).toBe('Be brief.')
  })
})
