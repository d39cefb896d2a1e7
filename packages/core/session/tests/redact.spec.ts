import { redact } from '@palimpsest/session'
import { describe, expect, it } from 'vitest'

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
})
