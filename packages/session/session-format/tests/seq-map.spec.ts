import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { SeqMap } from '../src/seq-map.ts'

describe('a map of seqs', () => {
  it('knows of every event whether it is in the successor, and where', () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom('keep', 'drop', 'insert')), (steps) => {
        const map = new SeqMap()
        const expected: (number | undefined)[] = []
        let length = 0
        for (const step of steps) {
          if (step === 'drop') expected.push(undefined)
          else if (step === 'insert') expect(map.insert()).toBe(length++)
          else {
            expect(map.keep(expected.length)).toBe(length)
            expected.push(length++)
          }
        }
        expect(map.length).toBe(length)
        expect(expected.map((_, seq) => map.get(seq))).toEqual(expected)
        expect([map.get(expected.length), map.get(-1)]).toEqual([undefined, undefined])
      }),
    )
  })
})
