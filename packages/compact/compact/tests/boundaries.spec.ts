import { balancedAfter, balancedBefore } from '@palimpsest/compact'
import type { Session } from '@palimpsest/session'
import fc from 'fast-check'
import { describe, expect, it, vi } from 'vitest'
import { anyMoves, anyMake, grow, openAfterEach, runs, seed } from './random.ts'
import { answer, call, fresh, nodesOf, replacing, say, talk } from './support.ts'

function expectRecount(session: Session): void {
  const open = openAfterEach(session)
  nodesOf(session).forEach((seq, position) => {
    expect(balancedAfter(session, seq)).toBe(open[position] === 0)
    expect(balancedBefore(session, seq)).toBe(position === 0 || open[position - 1] === 0)
  })
}

describe('balancedBefore and balancedAfter', () => {
  it('say that no boundary inside a batch is balanced', () => {
    const session = talk()
    const ask = (test: typeof balancedBefore): boolean[] => nodesOf(session).map((seq) => test(session, seq))
    expect(ask(balancedBefore)).toEqual([true, true, true, false, false, true, true])
    expect(ask(balancedAfter)).toEqual([true, true, false, false, true, true, true])
  })

  it('refuse an event that is not on the surface, and one that left it', () => {
    const session = talk()
    say(session, 'all of it', replacing([1, 2, 3, 4, 5]))
    for (const seq of [2, 99, -1, 0.5]) {
      expect(() => balancedBefore(session, seq)).toThrow(RangeError)
      expect(() => balancedAfter(session, seq)).toThrow(RangeError)
    }
  })

  it('extend on append: each entry is read once, however often they are asked', () => {
    const session = fresh()
    const read = vi.spyOn(session, 'eventAt')
    for (let round = 0; round < 100; round += 1) {
      const seq = call(session, `c${round}`)
      expect(balancedAfter(session, seq)).toBe(false)
      answer(session, `c${round}`)
      expect(balancedBefore(session, seq)).toBe(true)
      expect(balancedAfter(session, nodesOf(session).at(-1) ?? -1)).toBe(true)
    }
    expect(read).toHaveBeenCalledTimes(session.surface.nodes.length)
  })

  it('count again after a replacement, once', () => {
    const session = talk()
    balancedAfter(session, 6)
    say(session, 'the batch', replacing([2, 3, 4]))
    const read = vi.spyOn(session, 'eventAt')
    for (const seq of nodesOf(session)) expect(balancedBefore(session, seq)).toBe(true)
    expect(read).toHaveBeenCalledTimes(session.surface.nodes.length)
  })

  it(`agree with a recount on every session and after whatever comes next, seed ${seed}`, () => {
    fc.assert(
      fc.property(anyMake, anyMoves, (make, moves) => {
        const session = make()
        expectRecount(session)
        for (const move of moves) {
          grow(session, [move])
          expectRecount(session)
        }
      }),
      runs(25),
    )
  })
})
