import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Message } from '@palimpsest/session'
import { validateLanguageModelPrompt } from '../../src/index.ts'
import { anyEntries } from '../fixtures/derived-lists.ts'
import { user } from '../fixtures/messages.ts'
import { madeByTarget, sendList, wireTargets } from '../fixtures/wire-targets.ts'

const given = process.env['PALIMPSEST_SEED']
const seed = given === undefined ? Math.trunc(Math.random() * 2 ** 31) : Number(given)
const bytes = (ref: { attachmentId: string }): Uint8Array | undefined => {
  return ref.attachmentId.endsWith('1') ? undefined : new Uint8Array([1, 2, 3])
}
const anyEffort = fc.constantFrom(undefined, 'none', 'high')
/** Whether a loop would send the list: it ends on a user or a result. */
const isSendable = (list: readonly Message[]): boolean => {
  return list.some(({ role }) => role === 'user') && list.at(-1)?.role !== 'assistant'
}

/** SPEC 8, PROVIDERS 6: what the published packages put on the wire for every list that a session derives. */
export function describeWireLaw(runs: number): void {
  describe.each(wireTargets)('the published package for $name', (target) => {
    it(`sends what its provider takes for every derived list, seed ${seed}`, async () => {
      let withReasoning = 0
      const law = fc.asyncProperty(
        anyEntries,
        fc.constantFrom(...target.models),
        anyEffort,
        fc.nat({ max: 30 }),
        async (entries, modelId, reasoningEffort, intactThrough) => {
          const list = madeByTarget(entries.flat(), target, modelId)
          const options = { image: bytes, intactThrough, reasoningEffort }
          const lists = [[...list, user('go on')], ...(isSendable(list) ? [list] : [])]
          for (const messages of lists) {
            const { body, exported } = await sendList({ target, modelId, messages, options })
            expect(validateLanguageModelPrompt(exported.prompt, { profile: 'request' })).toEqual([])
            expect(target.judge(body, 'request')).toEqual([])
            if (target.reasoning?.test(JSON.stringify(body['messages'] ?? body['input']))) withReasoning += 1
          }
        },
      )
      await fc.assert(law, { numRuns: runs, seed })
      // The law would hold for packages that never got any.
      expect(withReasoning > 0).toBe(target.reasoning !== undefined)
    })

    it(`sends what a shorter list sent and then more, seed ${seed}`, async () => {
      const law = fc.asyncProperty(
        anyEntries,
        fc.nat(),
        fc.constantFrom(...target.models),
        async (entries, at, modelId) => {
          const cut = at % (entries.length + 1)
          const longer = madeByTarget([...entries.flat(), user('go on')], target, modelId)
          const shorter = longer.slice(0, entries.slice(0, cut).flat().length)
          fc.pre(isSendable(shorter))
          const options = { image: bytes, intactThrough: longer.length }
          const early = target.sequence((await sendList({ target, modelId, messages: shorter, options })).body)
          const late = target.sequence((await sendList({ target, modelId, messages: longer, options })).body)
          expect(late.slice(0, early.length)).toEqual(early)
          expect(JSON.stringify(late.slice(0, early.length))).toBe(JSON.stringify(early))
        },
      )
      await fc.assert(law, { numRuns: runs, seed })
    })
  })
}
