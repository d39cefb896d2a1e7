import { APICallError } from '@ai-sdk/provider'
import { describe, expect, it } from 'vitest'
import { redact } from '../src/redact.ts'
import { rig } from './harness.ts'

const full = "ENOSPC: no space left on device, write '/home/ada lovelace/.sessions/one.jsonl'"

describe('what the log keeps of a failure', () => {
  it.each([
    ['Incorrect API key provided: sk-proj-abcdefghijklmnop0123. See https://platform.example/keys.', 'sk-proj'],
    ['cannot fetch https://ada:pass1@host.example/v1?alt=sse&key=AIzaSyA1234567890abcdef', 'pass1', 'AIzaSyA1'],
    ['401 for {"authorization":"Bearer abc.DEF123456","x-api-key":"0123abc"}', 'DEF123', '0123abc'],
    ['bad header Authorization: Basic dXNlcjpwYXNz', 'dXNlcjpwYXNz'],
    ['answered with set-cookie: session=1a2b; path=/', '1a2b'],
    ['invalid token: Bearer 0a1b2c3d4e5f', '0a1b2c3d'],
    [full, 'ada', 'home'],
    ['Cannot find module /srv/agents/ada/plugin.js (from file:///srv/agents/main.js)', 'srv', 'agents'],
    [String.raw`EPERM: C:\Users\ada\log.jsonl is in use`, 'Users', 'ada'],
  ])('%s', (message, ...hidden) => {
    for (const secret of hidden) expect(redact(message)).not.toContain(secret)
  })

  it.each([
    'status 529: overloaded, try again in 1/2 hour and/or later',
    'the model claude-sonnet-4-5 does not support thinking.budget_tokens',
    'POST https://api.example.com/v1/messages: connect ECONNREFUSED 127.0.0.1:8080',
    'a Bearer token is required',
    'messages.1.content.0: tool_use ids must be unique; request id: req_011CS',
  ])('keeps %s', (message) => {
    expect(redact(message)).toBe(message)
  })

  it('holds for requests, barriers and hooks', async () => {
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
