import { describe, expect, it } from 'vitest'
import { retryDelay } from '../src/retry.ts'
import { rig } from './harness.ts'
import { apiError } from './laws.ts'

const retry = { maxAttempts: 4, initialDelayMs: 1000, maxDelayMs: 60_000 }

describe('retry', () => {
  it('waits with backoff, and leaves an assistant/attempt for each failure, without headers and bodies', async () => {
    const waits: number[] = []
    const one = rig({
      script: [{ rejects: apiError(503) }, { rejects: apiError(429, { 'retry-after': '7', cookie: 'secret' }) }, 'Hi.'],
      sleep: (ms) => Promise.resolve(void waits.push(ms)),
    })
    expect((await one.send('hello')).reason).toEqual({ kind: 'completed' })
    expect(waits).toEqual([1000, 7000])
    expect(one.of('assistant/attempt').map(({ data }) => data.failure)).toEqual([
      { code: 'request/failed', message: 'status 503', statusCode: 503 },
      { code: 'request/failed', message: 'status 429', statusCode: 429 },
    ])
    expect(JSON.stringify(one.events())).not.toContain('secret')
  })

  it('retry-after-ms goes before retry-after, dates are read, and more than a minute is not waited for', () => {
    const delay = (headers: Record<string, string>): number => retryDelay(apiError(429, headers), 2, retry, 0)
    expect(delay({ 'retry-after-ms': '1500', 'retry-after': '9' })).toBe(1500)
    expect(delay({ 'retry-after': 'Thu, 01 Jan 1970 00:00:20 GMT' })).toBe(20_000)
    expect(delay({ 'retry-after': '61' })).toBe(2000)
    expect(delay({ 'retry-after': 'soon' })).toBe(2000)
    expect(retryDelay(new Error('x'), 30, retry, 0)).toBe(60_000)
  })

  it('a fatal failure ends the turn at once, and repeated failures end it after the last attempt', async () => {
    const fatal = rig({ script: [{ rejects: apiError(400) }] })
    expect((await fatal.send('x')).reason).toMatchObject({ failure: { code: 'request/failed', statusCode: 400 } })
    const down = rig({ script: () => ({ rejects: apiError(500) }), retry: { maxAttempts: 3 } })
    expect((await down.send('x')).reason).toMatchObject({ failure: { code: 'request/failed', statusCode: 500 } })
    expect(down.model.requests).toHaveLength(3)
  })

  it('an overflow is retried once per step, where a hook asks for it, and derives anew', async () => {
    const one = rig({
      script: [{ rejects: apiError(413) }, 'Fits.', { rejects: apiError(413) }, { rejects: apiError(413) }],
      classifyError: () => 'overflow',
    })
    one.loop.on('agent/request-error', ({ kind, session }) => {
      const [, first] = session.surface.nodes
      if (kind !== 'overflow' || first === undefined) return undefined
      session.append(
        'user/message',
        {
          id: `s${String(session.length)}` as never,
          role: 'user',
          content: [{ type: 'text', text: 'short' }],
          source: { kind: 'plugin', plugin: 'test' },
        },
        { surfaceOp: { op: 'replace', startSeq: first, endSeq: first }, sourceEventSeqs: [first] },
      )
      return 'retry'
    })
    expect((await one.send('long')).reason).toEqual({ kind: 'completed' })
    expect(JSON.stringify(one.prompts()[1])).toContain('short')
    expect((await one.send('longer')).reason).toMatchObject({ failure: { code: 'request/overflow' } })
    expect(one.model.requests).toHaveLength(4)
  })

  it('an overflow without an answer of a hook ends the turn', async () => {
    const one = rig({ script: [{ rejects: apiError(413) }], classifyError: () => 'overflow' })
    expect((await one.send('long')).reason).toMatchObject({ kind: 'error', failure: { code: 'request/overflow' } })
  })

  it('a hook may end what would be retried, and retry what would not', async () => {
    const ended = rig({ script: [{ rejects: apiError(503) }] })
    ended.loop.on('agent/request-error', () => 'fail')
    expect((await ended.send('x')).reason).toMatchObject({ failure: { statusCode: 503 } })
    const mended = rig({ script: [{ rejects: apiError(401) }, 'In.'] })
    mended.loop.on('agent/request-error', ({ willRetry }) => (willRetry ? undefined : 'retry'))
    expect((await mended.send('x')).reason).toEqual({ kind: 'completed' })
  })

  it('a barrier that fails sends nothing', async () => {
    const one = rig({ script: ['Hi.'], flush: () => Promise.reject(new Error('disk full')) })
    expect((await one.send('x')).reason).toMatchObject({ failure: { code: 'flush/failed' } })
    expect(one.model.requests).toEqual([])
    expect(one.of('user/message')).toHaveLength(1)
  })
})
