import { describe, it } from 'vitest'
import { anthropicRealLimits } from './anthropic-limits.ts'
import { expectAnswer, expectRefusal } from './fixtures.ts'

describe.each(anthropicRealLimits.map((fixture) => [fixture.rule, fixture] as const))(
  'the real limit of %s',
  (_, fixture) => {
    it('is refused one past it', () => expectRefusal('anthropic', fixture))
    it('is accepted up to it', () => expectAnswer('anthropic', fixture))
  },
)
