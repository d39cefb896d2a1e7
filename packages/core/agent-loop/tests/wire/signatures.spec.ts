import { type Message, reconstructRequest } from '@palimpsest/session'
import { type ServedBlock, type ServedReply, seededRandom } from '@palimpsest/testkit'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Dice } from './scripts.ts'
import { type Wire, type WireTarget, allTargets, fields, list } from './targets.ts'
import { WireSession, temporaryRoot } from './wire-session.ts'

const given = process.env['PALIMPSEST_SEED']
const firstSeed = given === undefined ? Math.trunc(Math.random() * 2 ** 30) : Number(given)
const runs = 3

let root: Awaited<ReturnType<typeof temporaryRoot>>
beforeAll(async () => {
  root = await temporaryRoot()
})
afterAll(() => root.dispose())

function reply(target: WireTarget, dice: Dice, body: Wire, n: number): ServedReply {
  const thinking: ServedBlock[] = target.thinks(body)
    ? [
        { type: 'thinking', text: [`thought ${n}`, 'and on'], redacted: dice.chance(0.3) },
        ...(dice.chance(0.3) ? [{ type: 'thinking' as const, text: `again ${n}` }] : []),
      ]
    : []
  const calls: ServedBlock[] = dice.chance(0.6) ? [{ type: 'tool-call', name: 'shot', input: {} }] : []
  return { blocks: [...thinking, { type: 'text', text: `step ${n}` }, ...calls] }
}

/** What providers put beside a message's blocks: signatures, redacted and encrypted reasoning, by who put it there. */
function secrets(messages: readonly Message[]): { readonly provider: string; readonly secret: string }[] {
  return messages.flatMap(({ source }) => {
    if (source.kind !== 'model') return []
    return list(fields(source.replayState)['blocks']).flatMap((entry) => {
      const metadata = fields(fields(entry)['providerMetadata'])
      const { signature, redactedData } = fields(metadata['anthropic'])
      const { reasoningEncryptedContent: encrypted } = fields(metadata['openai'])
      return [signature, redactedData, encrypted]
        .filter((secret) => typeof secret === 'string')
        .map((secret) => ({ provider: source.provider, secret }))
    })
  })
}

describe('the metadata of a provider', () => {
  it(`comes back from the disk as it was and goes to its own family only, ${runs} from seed ${firstSeed}`, async () => {
    let known = 0
    let returned = 0
    for (let seed = firstSeed; seed < firstSeed + runs; seed += 1) {
      const dice = new Dice(seededRandom(seed))
      const one = new WireSession(root.path, `signatures ${seed}`)
      for (const target of allTargets) {
        await one.serve(target, { seed, script: ({ body }, n) => reply(target, dice, body, n) })
      }
      for (let turn = 0; turn < 8; turn += 1) {
        const target = dice.one([allTargets[0] as WireTarget, ...allTargets])
        await (await one.open(target, { maxSteps: 4 })).send('go on')
        const before = JSON.stringify(one.session.events)
        await one.resume()
        expect(JSON.stringify(one.session.events)).toBe(before)
      }
      for (const { seq, header, text = '' } of one.recorder.sent) {
        const { messages } = reconstructRequest(one.session.events, seq)
        const family = header.config.provider.split('.')[0]
        for (const { provider, secret } of secrets(messages)) {
          known += 1
          if (!text.includes(secret)) continue
          returned += 1
          expect(provider.split('.')[0]).toBe(family)
        }
      }
      await one.end()
      expect(one.problems).toEqual([])
      for (const server of one.servers) expect([server.refusals, server.dropped]).toEqual([[], []])
    }
    // Some go back, and not all: other models hear nothing of them.
    expect(returned).toBeGreaterThan(0)
    expect(returned).toBeLessThan(known)
  })
})
