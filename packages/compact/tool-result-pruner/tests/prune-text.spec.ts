import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { pruneText } from '../src/index.ts'
import { seed } from './sessions.ts'

const encoder = new TextEncoder()
const utf8 = (value: string): number => encoder.encode(value).length
const MARKER = /\n\[(\d+) bytes left out here; event (\d+) of the session log has the full result\]\n/
const RUNS = { numRuns: 400, seed }

const anyText = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 600, size: 'max' }),
  fc.string({ unit: 'grapheme', maxLength: 300, size: 'max' }),
  fc
    .array(fc.constantFrom('\ud83d', '\udc69', '👩', '\u200d', '\r\n', '\n', 'line', 'e\u0301', '\u0000'), {
      maxLength: 400,
      size: 'max',
    })
    .map((parts) => parts.join('')),
)
const anyBudget = fc.nat({ max: 400 })

/** Head and tail of what pruning left; the whole text where it left it alone. */
function parts(pruned: string): { head: string; tail: string; leftOut: number } {
  const match = MARKER.exec(pruned)
  if (match === null) return { head: pruned, tail: '', leftOut: 0 }
  return {
    head: pruned.slice(0, match.index),
    tail: pruned.slice(match.index + match[0].length),
    leftOut: Number(match[1]),
  }
}

const splitsPair = (before: string, after: string): boolean =>
  /[\ud800-\udbff]$/.test(before) && /^[\udc00-\udfff]/.test(after)

describe(`a pruned text, seed ${seed}`, () => {
  it('is the text itself or strictly smaller, and within the budget unless it is the bare marker', () => {
    fc.assert(
      fc.property(anyText, anyBudget, (text, maxBytes) => {
        const pruned = pruneText(text, { maxBytes, seq: 7 })
        if (pruned === text) return
        expect(utf8(text)).toBeGreaterThan(maxBytes)
        expect(utf8(pruned)).toBeLessThan(utf8(text))
        const { head, tail } = parts(pruned)
        if (head + tail !== '') expect(utf8(pruned)).toBeLessThanOrEqual(maxBytes)
      }),
      RUNS,
    )
  })

  it('is the same text when it is pruned again with the same budget', () => {
    fc.assert(
      fc.property(anyText, anyBudget, (text, maxBytes) => {
        const pruned = pruneText(text, { maxBytes, seq: 7 })
        expect(pruneText(pruned, { maxBytes, seq: 7 })).toBe(pruned)
      }),
      RUNS,
    )
  })

  it('stays as it is, whatever markers the text quotes', () => {
    const quoted = fc.constantFrom(
      ...['999999999999', '999999999999999999', '007', '5'].map(
        (count) => `\n[${count} bytes left out here; event 7 of the session log has the full result]\n`,
      ),
    )
    const anyQuoting = fc.array(fc.oneof(quoted, anyText), { maxLength: 5 }).map((pieces) => pieces.join(''))
    fc.assert(
      fc.property(anyQuoting, anyBudget, (text, maxBytes) => {
        const pruned = pruneText(text, { maxBytes, seq: 7 })
        if (pruned !== text) expect(utf8(pruned)).toBeLessThan(utf8(text))
        expect(pruneText(pruned, { maxBytes, seq: 7 })).toBe(pruned)
      }),
      RUNS,
    )
  })

  it('is a head and a tail of the text, cut between code points, and counts exactly what is missing', () => {
    fc.assert(
      fc.property(anyText, anyBudget, (text, maxBytes) => {
        const pruned = pruneText(text, { maxBytes, seq: 7 })
        if (pruned === text) return
        const { head, tail, leftOut } = parts(pruned)
        expect(text.startsWith(head) && text.endsWith(tail)).toBe(true)
        const middle = text.slice(head.length, text.length - tail.length)
        expect(splitsPair(head, middle) || splitsPair(middle, tail)).toBe(false)
        expect(leftOut).toBe(utf8(middle))
      }),
      RUNS,
    )
  })

  it('counts on when it is pruned with a smaller budget, and keeps one marker', () => {
    fc.assert(
      fc.property(anyText, anyBudget, anyBudget, (text, one, other) => {
        const larger = Math.max(one, other)
        const once = pruneText(text, { maxBytes: larger, seq: 7 })
        const twice = pruneText(once, { maxBytes: Math.min(one, other), seq: 7 })
        const { head, tail, leftOut } = parts(twice)
        if (twice === text) return
        expect(text.startsWith(head) && text.endsWith(tail)).toBe(true)
        expect(leftOut).toBe(utf8(text.slice(head.length, text.length - tail.length)))
        expect(twice.match(new RegExp(MARKER, 'g'))).toHaveLength(1)
      }),
      RUNS,
    )
  })

  it('names how much is missing and the event that has it all', () => {
    const pruned = pruneText('x'.repeat(10_000), { maxBytes: 1000, seq: 42 })
    const match = MARKER.exec(pruned)
    expect(match?.[2]).toBe('42')
    // Room is kept for the widest count.
    expect(utf8(pruned)).toBeGreaterThan(995)
  })

  it('ends its head and starts its tail at a line where one is near', () => {
    const text = Array.from({ length: 500 }, (_, line) => `line ${line} of the output\r\n`).join('')
    const { head, tail } = parts(pruneText(text, { maxBytes: 1000, seq: 1 }))
    expect(head).toMatch(/\r\n$/)
    expect(tail).toMatch(/^line \d+ of/)
  })

  it('does not split a grapheme or CR LF where lines are too long', () => {
    const family = '👩‍👩‍👧'
    for (let maxBytes = 200; maxBytes < 240; maxBytes += 1) {
      const { head, tail } = parts(pruneText(family.repeat(100), { maxBytes, seq: 1 }))
      expect(head.length % family.length).toBe(0)
      expect(tail.length % family.length).toBe(0)
    }
    for (let maxBytes = 200; maxBytes < 210; maxBytes += 1) {
      const { head, tail } = parts(pruneText('\r\n'.repeat(500), { maxBytes, seq: 1 }))
      expect(head).not.toMatch(/\r$/)
      expect(tail).not.toMatch(/^\n/)
    }
  })

  it('is the bare marker when the budget has no room for it, and untouched when the marker is longer', () => {
    expect(pruneText('x'.repeat(500), { maxBytes: 0, seq: 3 })).toMatch(/^\n\[500 bytes left out here; event 3 .*\]\n$/)
    expect(pruneText('short', { maxBytes: 0, seq: 3 })).toBe('short')
  })

  it('takes no account of a marker that names another event', () => {
    const quoted = pruneText('q'.repeat(500), { maxBytes: 200, seq: 3 })
    const pruned = pruneText(quoted + 'x'.repeat(500), { maxBytes: 150, seq: 4 })
    expect(pruned).toContain(`[${utf8(quoted) + 500 - (utf8(pruned) - utf8(MARKER.exec(pruned)?.[0] ?? ''))} bytes`)
  })
})
