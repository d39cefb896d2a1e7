import { image, says, showing, user } from './anthropic-requests.ts'
import { words, type Fixture } from './fixtures.ts'

/** The real limits, of which the quick fixtures show smaller ones. */
export const anthropicRealLimits: readonly Fixture[] = [
  {
    rule: 'A29.bytes',
    refused: showing(image('image/png', 'A'.repeat(10 * 1024 * 1024 + 4))),
    accepted: showing(image('image/png', 'A'.repeat(10 * 1024 * 1024))),
    error: { message: words('10 MB') },
  },
  {
    rule: 'A30.bytes',
    refused: says(user('x'.repeat(32 * 1024 * 1024))),
    accepted: says(user('x'.repeat(31 * 1024 * 1024))),
    status: 413,
    error: { type: 'request_too_large' },
  },
  {
    rule: 'A30.messages',
    refused: says(...Array.from({ length: 100_001 }, () => user('x'))),
    accepted: says(...Array.from({ length: 100_000 }, () => user('x'))),
    error: { message: words('100000') },
  },
]
