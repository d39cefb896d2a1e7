import { beforeAll, describe, expect, it } from 'vitest'
import { answered, event, palimpsest, said, scratch, storeEvents, wholeTurn } from './support.ts'

/** Two requests of one step: the first failed, the second was answered after the prompt had been replaced. */
let root: string
beforeAll(async () => {
  root = scratch()
  const step = { turn: 1, step: 1 }
  const header = { config: { provider: 'acme', model: 'acme-1', temperature: 0 }, tools: [{ name: 'run' }] }
  await storeEvents(root, 's', [
    said(0, 'Look at it.'),
    event(1, 'request/header', { header, reason: 'initial' }),
    event(2, 'request/start', { ...step, attempt: 1, throughSeq: 1 }),
    event(3, 'assistant/attempt', { ...step, stream: [], requestSeq: 2, failure: { code: 'overflow' } }),
    said(4, 'Look.', { surfaceOp: { op: 'replace', startSeq: 0, endSeq: 0 }, sourceEventSeqs: [0] }),
    event(5, 'request/start', { ...step, attempt: 2, throughSeq: 4 }),
    answered(6, [{ type: 'text', text: 'Seen.' }], { requestSeq: 5 }),
    said(7, 'And now?'),
  ])
})

describe('request', () => {
  it('rebuilds the request behind an answer and behind an attempt', async () => {
    const idsOf = async (seq: string): Promise<unknown> => {
      const { json } = await palimpsest(['request', 's', seq, '--json'], { root })
      const { header, messages } = json as { header: { config: object }; messages: { id: string }[] }
      return { model: header.config, ids: messages.map(({ id }) => id) }
    }
    const model = { provider: 'acme', model: 'acme-1', temperature: 0 }
    expect(await idsOf('3')).toEqual({ model, ids: ['u0'] })
    expect(await idsOf('6')).toEqual({ model, ids: ['u4'] })
    expect(await idsOf('5')).toEqual({ model, ids: ['u4'] })
  })

  it('shows model, settings, tools and messages', async () => {
    const { out } = await palimpsest(['request', 's', '6'], { root })
    expect(out).toMatch(/^acme acme-1\n {2}temperature: 0\n {2}tools: run\n\n1\. user u4\n {4}Look\.\n1 message\n$/)
  })

  it('lists the requests of a session when no seq is given', async () => {
    const { json } = await palimpsest(['request', 's', '--json'], { root })
    expect(json).toMatchObject({
      requests: [
        { seq: 2, turn: 1, step: 1, attempt: 1, model: 'acme-1', messages: 1, answer: { seq: 3 } },
        { seq: 5, turn: 1, step: 1, attempt: 2, model: 'acme-1', messages: 1, answer: { seq: 6 } },
      ],
    })
    const { out } = await palimpsest(['request', 's'], { root })
    expect(out).toMatch(/6 assistant\/message/)
    expect(out).toMatch(/2 requests/)
  })

  it('says so when no request is recorded', async () => {
    const imported = scratch()
    await storeEvents(imported, 't', wholeTurn())
    expect((await palimpsest(['request', 't'], { root: imported })).out).toMatch(/No request is recorded/)
    const { exit, err } = await palimpsest(['request', 't', '3'], { root: imported })
    expect(exit).toBe(1)
    expect(err).toMatch(/^palimpsest: request\/unrecorded: no recorded request stands behind event 3/)
  })
})
