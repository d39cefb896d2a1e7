import { Session } from '@palimpsest/session'
import { expect, it } from 'vitest'
import { z } from 'zod'
import { defineTool } from '../src/index.ts'
import { logProblems, rig } from './harness.ts'

// Public failure reports, named by their id in the corpus.

const echo = defineTool({ name: 'echo', inputSchema: z.object({}), execute: () => 'heard' })

it('OC-08: whoever hears that a turn has ended finds every call of it answered, also after an abort', async () => {
  let started = 0
  const hang = defineTool({
    name: 'hang',
    inputSchema: z.object({}),
    execute: () => {
      started += 1
      return new Promise<string>(() => undefined)
    },
  })
  const one = rig({ tools: [echo, hang], script: [{ parts: [{ call: 'echo' }, { call: 'echo' }, { call: 'hang' }] }] })
  const heard: unknown[] = []
  one.session.on('session/event', ({ type }, session) => {
    if (type !== 'turn/end') return
    const results = session.events.filter((event) => event.type === 'tool/result')
    heard.push(...logProblems(session), ...results.map(({ data }) => data.message.content[0].isError ?? false))
  })
  const turn = one.send('go')
  while (started === 0 || one.of('tool/result').length < 2) await new Promise((resolve) => setImmediate(resolve))
  one.loop.abort()
  await turn
  expect(heard).toEqual([false, false, true])
})

it('DU-07: an answer that fails is asked for again with the one user message that is there', async () => {
  const one = rig({ script: [{ ends: 'cut' }, { parts: [], ends: 'early' }, 'Hi.'] })
  expect((await one.send('hello')).reason).toEqual({ kind: 'completed' })
  expect(one.model.requests).toHaveLength(3)
  expect(one.of('assistant/attempt')).toHaveLength(2)
  expect(one.of('user/message')).toHaveLength(1)
})

it('SP-02: a loop that resumes a session without naming a prompt goes on under the one that the log holds', async () => {
  const resumed = async (session: Session, system?: string): Promise<string> => {
    const one = rig({ session, script: ['Yes.'], ...(system === undefined ? {} : { system }) })
    await one.send('still there?')
    return JSON.stringify(one.prompts()[0]?.filter(({ role }) => role === 'system'))
  }
  const first = rig({ system: 'You are a scout.', script: ['Ready.'] })
  await first.send('go')
  const { length } = first.of('system/message')
  expect(await resumed(first.session)).toContain('You are a scout.')
  expect(first.of('system/message')).toHaveLength(length)
  expect(await resumed(first.session, '')).toBe('[]')

  const headless = Session.create()
  const data = { id: 'u', role: 'user', content: [{ type: 'text', text: 'go' }], source: { kind: 'user' } }
  headless.append('user/message', data as never, { surfaceOp: 'append' })
  expect(await resumed(headless, 'You are a scout.')).toContain('You are a scout.')
  expect(await resumed(headless)).toContain('You are a scout.')
})

it('ID-03: a clock that runs backwards ends no turn late and changes no order', async () => {
  let clock = 2_000_000_000_000
  const now = (): number => (clock -= 60_000)
  const one = rig({
    session: Session.create({ now }),
    now,
    tools: [echo],
    script: [{ parts: [{ call: 'echo' }] }, 'Done.', 'Again.'],
  })
  expect((await one.send('go')).reason).toEqual({ kind: 'completed' })
  expect((await one.send('and now?')).reason).toEqual({ kind: 'completed' })
  expect(one.model.requests).toHaveLength(3)
  const times = one.events().map(({ time }) => time)
  expect(times.at(-1)).toBeLessThan(times[0] ?? 0)
  const roles = one.session.deriveMessages().map(({ role }) => role)
  expect(roles).toEqual(['user', 'assistant', 'user', 'assistant', 'user', 'assistant'])
})
