import { APICallError } from '@ai-sdk/provider'
import { describe, expect, it } from 'vitest'
import { rig } from './harness.ts'

const full = "ENOSPC: no space left on device, write '/home/ada lovelace/.sessions/one.jsonl'"

describe('what the log keeps of a failure', () => {
  it('holds no credential and no path, of requests, barriers and hooks', async () => {
    const key = 'sk-ant-test-0123456789abcdef'
    const error = new APICallError({
      message: `key ${key} is not valid`,
      url: `https://provider.example/?key=${key}`,
      requestBodyValues: { key },
      statusCode: 401,
      responseHeaders: { 'x-api-key': key },
      responseBody: key,
      cause: new Error(key),
      data: { key },
    })
    const one = rig({ script: [{ rejects: error }, 'Two.'] })
    await one.send('a')
    one.loop.on('agent/pre-step', () => {
      throw new Error(full)
    })
    await one.send('b')
    const two = rig({ script: [], flush: () => Promise.reject(new Error(full)) })
    await two.send('a')
    const log = JSON.stringify([one.events(), two.events()])
    expect(log).not.toContain(key)
    expect(log).not.toContain('lovelace')
    expect(two.of('turn/end')[0]?.data.reason).toEqual({
      kind: 'error',
      failure: {
        code: 'flush/failed',
        message: "the log could not be made durable: ENOSPC: no space left on device, write '…/one.jsonl'",
      },
    })
  })

  it('an adapter that stumbles over an error leaves it to the loop', async () => {
    const one = rig({
      script: [{ rejects: new TypeError('odd') }],
      classifyError: () => {
        throw new Error('what is this?')
      },
    })
    expect((await one.send('a')).reason).toMatchObject({ failure: { code: 'request/failed', message: 'odd' } })
    expect(one.of('assistant/attempt')).toHaveLength(1)
  })
})
