import { compactionEvents } from '@palimpsest/compact'
import { SessionAcceptanceError } from '@palimpsest/session'
import { describe, expect, it } from 'vitest'
import { add, appended, fresh } from './support.ts'

const start = { compactionId: 'c1', trigger: 'manual', startSeq: 1, endSeq: 5 }
const summary = {
  compactionId: 'c1',
  shadowedRange: { startSeq: 1, endSeq: 5 },
  shadowedSeqs: [1, 5],
  tokensBefore: 9,
  tokensAfter: 1,
}
const end = { compactionId: 'c1' }
const valid = { 'compaction/start': start, 'compaction/summary': summary, 'compaction/end': end }

function refusal(type: string, data: object, intent?: object): string {
  try {
    add(fresh(), type, data, intent)
  } catch (error) {
    if (error instanceof SessionAcceptanceError) return error.code
    throw error
  }
  return 'accepted'
}

describe('compaction events', () => {
  it('are three, of this package', () => {
    expect([...compactionEvents].map(([type, { owner, retired }]) => [type, owner, retired])).toEqual(
      Object.keys(valid).map((type) => [type, '@palimpsest/compact', false]),
    )
  })

  it.each(Object.entries(valid))('%s is log-only and keeps members of others', (type, data) => {
    expect(refusal(type, data)).toBe('accepted')
    expect(refusal(type, data, appended)).toBe('surface/forbidden')
    expect(add(fresh(), type, { ...data, acme: { deep: [1] } }).data).toEqual({ ...data, acme: { deep: [1] } })
  })

  it.each([
    ['compaction/start', { ...start, compactionId: '' }],
    ['compaction/start', { ...start, trigger: 'whim' }],
    ['compaction/start', { ...start, endSeq: -1 }],
    ['compaction/start', { compactionId: 'c1', trigger: 'manual' }],
    ['compaction/summary', { ...summary, shadowedSeqs: [] }],
    ['compaction/summary', { ...summary, shadowedRange: { startSeq: 1 } }],
    ['compaction/summary', { ...summary, tokensAfter: -1 }],
    ['compaction/summary', { ...summary, usage: { inputTokens: 1.5 } }],
    ['compaction/end', { ...end, replacementSeq: 'nine' }],
    ['compaction/end', { ...end, error: { code: '', message: 'm' } }],
    ['compaction/end', {}],
  ])('%s is refused where it says %j', (type, data) => {
    expect(refusal(type, data)).toBe('payload/invalid')
  })
})
