import type { UserMessage } from '@palimpsest/session'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { defineTool } from '../src/index.ts'
import { rig } from './harness.ts'

const note = (text: string): UserMessage => ({
  id: `note-${text}` as never,
  role: 'user',
  content: [{ type: 'text', text }],
  source: { kind: 'plugin', plugin: 'test' },
})
const echo = defineTool({ name: 'echo', inputSchema: z.looseObject({}), execute: () => 'echo' })

describe('hooks', () => {
  it('listeners run in the order in which they were added, each at its place in the step', async () => {
    const one = rig({ tools: [echo], script: [{ parts: [{ call: 'echo' }] }, 'Done.'] })
    const seen: string[] = []
    const at = (name: string) => async (): Promise<void> => {
      await Promise.resolve()
      seen.push(`${name} after ${String(one.events().at(-1)?.type)}`)
    }
    const off = one.loop.on('agent/pre-step', at('never'))
    one.loop.on('agent/pre-step', at('pre-step 1'))
    one.loop.on('agent/pre-step', at('pre-step 2'))
    one.loop.on('agent/request', at('request'))
    one.loop.on('tools/pre-execute', at('pre-execute'))
    one.loop.on('tools/result', at('result'))
    off()
    await one.send('go')
    expect(seen).toEqual([
      'pre-step 1 after turn/start',
      'pre-step 2 after turn/start',
      'request after user/message',
      'pre-execute after assistant/message',
      'result after tool/call',
      'pre-step 1 after step/end',
      'pre-step 2 after step/end',
      'request after step/start',
    ])
  })

  it('inject puts sourced messages before the input of the step, and a replacement of pre-step is seen by the request', async () => {
    const one = rig({ script: ['One.', 'Two.'] })
    await one.send('old')
    one.loop.on('agent/pre-step', ({ session, inject, input }) => {
      inject(note('first'), [0])
      expect(input).toHaveLength(1)
      const [, seq] = session.surface.nodes
      if (seq !== undefined)
        session.append('user/message', note('rewritten'), {
          surfaceOp: { op: 'replace', startSeq: seq, endSeq: seq },
          sourceEventSeqs: [seq],
        })
    })
    await one.send('new')
    const texts = one.session.deriveMessages().map(({ content: [block] }) => (block?.type === 'text' ? block.text : ''))
    expect(texts).toEqual(['rewritten', 'One.', 'first', 'new', 'Two.'])
  })

  it.each(['agent/pre-step', 'agent/request', 'tools/pre-execute', 'tools/result'] as const)(
    'a throw in %s ends the turn closed',
    async (hook) => {
      const one = rig({ tools: [echo], script: [{ parts: [{ call: 'echo' }] }, 'Next.'] })
      const off = one.loop.on(hook, () => {
        throw new Error('bad day')
      })
      expect((await one.send('go')).reason).toMatchObject({
        kind: 'error',
        failure: { code: 'hook/failed', message: expect.stringContaining('bad day') as string },
      })
      expect(one.of('user/message')).toHaveLength(1)
      off()
      one.loop.on('agent/pre-step', () => undefined)
      expect((await one.send('again')).reason.kind).not.toBe('error')
    },
  )

  it('what a hook may not inject, and another model, end the turn with hook/failed', async () => {
    const one = rig({ script: [] })
    const off = one.loop.on('agent/pre-step', ({ inject }) => inject({ ...note('x'), role: 'system' } as never))
    expect((await one.send('go')).reason).toMatchObject({ failure: { code: 'hook/failed' } })
    off()
    one.loop.on('agent/request', ({ header }) => ({ ...header, config: { ...header.config, model: 'other' } }))
    expect((await one.send('go')).reason).toMatchObject({ failure: { code: 'hook/failed' } })
    expect(one.of('user/message')).toHaveLength(2)
  })

  it('a hook that writes into the header changes one request and nothing of the loop', async () => {
    const one = rig({ tools: [echo], script: ['One.', 'Two.'] })
    const off = one.loop.on('agent/request', ({ header }) => {
      Object.assign(header.tools?.[0] ?? {}, { description: 'of this request' })
    })
    await one.send('a')
    off()
    await one.send('b')
    const descriptions = one.of('request/header').map(({ data }) => data.header.tools?.[0]?.['description'])
    expect(descriptions).toEqual(['of this request', undefined])
  })

  it('a hook that never ends is left behind by an abort', async () => {
    const one = rig({ script: ['One.'] })
    const off = one.loop.on('agent/pre-step', () => new Promise(() => one.loop.abort('tired')))
    expect((await one.send('go')).reason).toEqual({ kind: 'aborted', cause: 'tired' })
    off()
    await one.send('again')
  })

  it('a replacement and a late result that land while the answer streams change the next request only', async () => {
    const one = rig({
      script: [
        'One.',
        {
          parts: [
            'Two',
            {
              run: () => {
                const [, seq] = one.session.surface.nodes
                if (seq === undefined) throw new Error('nothing to replace')
                one.session.append('user/message', note('pruned'), {
                  surfaceOp: { op: 'replace', startSeq: seq, endSeq: seq },
                  sourceEventSeqs: [seq],
                })
                one.session.append('tool/late-result', {
                  turn: 1,
                  step: 1,
                  callId: 'c' as never,
                  content: [{ type: 'text', text: 'late' }],
                })
              },
            },
            '.',
          ],
        },
        'Three.',
      ],
    })
    await one.send('a')
    await one.send('b')
    expect(JSON.stringify(one.prompts()[1])).not.toContain('pruned')
    await one.send('c')
    expect(JSON.stringify(one.prompts()[2])).toContain('pruned')
    expect(JSON.stringify(one.prompts()[2])).toContain('late')
  })

  it.each([
    ['step/start', 1],
    ['user/message', 1],
    ['request/start', 1],
    ['assistant/message', 1],
    ['tool/call', 1],
    ['tool/result', 1],
    ['tool/result', 2],
    ['step/end', 1],
    ['turn/end', 1],
  ] as const)(
    'a listener of the session that vetoes %s, %i times, leaves a turn that is closed',
    async (vetoed, times) => {
      const one = rig({ tools: [echo], script: () => ({ parts: one.prompts().length > 1 ? [] : [{ call: 'echo' }] }) })
      let vetoes = 0
      one.session.on('internal/dispatch', ({ type }) => {
        if (type === vetoed && (vetoes += 1) <= times) throw new Error('no')
      })
      await one.send('go').catch((error: unknown) => expect([vetoed, error]).toEqual(['turn/end', new Error('no')]))
      expect(vetoes).toBeGreaterThanOrEqual(times)
      await one.send('again')
      expect(one.of('user/message')).toHaveLength(2)
    },
  )

  it.each([
    ['turn/start', 1],
    ['user/message', 2],
  ] as const)(
    'where a veto of %s keeps a turn out of the log, its send rejects and other input waits for the next one',
    async (vetoed, times) => {
      const one = rig({ script: ['One.'] })
      let vetoes = 0
      one.session.on('internal/dispatch', ({ type }) => {
        if (type === vetoed && (vetoes += 1) <= times) throw new Error('no')
      })
      one.loop.inject('note')
      one.loop.steer('and')
      await expect(one.loop.send('go')).rejects.toThrow('no')
      await one.send('again')
      const said = one.of('user/message').map(({ data }) => (data.content[0] as { readonly text: string }).text)
      expect(said).toEqual(['note', 'and', 'again'])
    },
  )
})
