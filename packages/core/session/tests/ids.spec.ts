import { isSessionSeq, messageId, sessionId, sessionSeq, toolCallId } from '@palimpsest/session'
import { describe, expect, it } from 'vitest'

describe('ids', () => {
  it.each([0, 1, Number.MAX_SAFE_INTEGER])('%d is a seq', (value) => {
    expect(isSessionSeq(value)).toBe(true)
    expect(sessionSeq(value)).toBe(value)
  })

  it.each([-0, -1, 0.5, Number.NaN, Infinity, Number.MAX_SAFE_INTEGER + 1])('%d is no seq', (value) => {
    expect(isSessionSeq(value)).toBe(false)
    expect(() => sessionSeq(value)).toThrow(RangeError)
  })

  it.each(['0', null, undefined, 0n, {}])('%s is no seq, being no number', (value) => {
    expect(isSessionSeq(value)).toBe(false)
  })

  it.each([sessionId, messageId, toolCallId])('$name takes any string but the empty one', (brand) => {
    expect(brand(' \ud99c')).toBe(' \ud99c')
    expect(() => brand('')).toThrow(TypeError)
    expect(() => brand(5 as never)).toThrow(TypeError)
  })
})
