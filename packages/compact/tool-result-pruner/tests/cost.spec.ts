import type { Session } from '@palimpsest/session'
import { text } from '@palimpsest/testkit'
import { describe, expect, it } from 'vitest'
import { planImagePruning, planPruning, type SurfacedLog, SurfaceMeter } from '../src/index.ts'
import { fresh, image, say, use } from './sessions.ts'

/** A log that counts what is read of it: events, and entries of the surface. */
function counted(session: Session): { log: SurfacedLog; reads: { events: number; entries: number } } {
  const reads = { events: 0, entries: 0 }
  const log: SurfacedLog = {
    get length() {
      return session.length
    },
    eventAt(seq) {
      reads.events += 1
      return session.eventAt(seq)
    },
    surface: {
      get nodes() {
        return new Proxy(session.surface.nodes, {
          get(target, key, receiver) {
            if (typeof key === 'string' && /^\d+$/.test(key)) reads.entries += 1
            return Reflect.get(target, key, receiver) as unknown
          },
        })
      },
      get replaceGeneration() {
        return session.surface.replaceGeneration
      },
    },
  }
  return { log, reads }
}

/** 10,000 entries: 1,250 results of 1,000 bytes, 1,250 images, 7,500 messages. */
function long(): Session {
  const session = fresh()
  for (let count = 0; count < 1250; count += 1) {
    use(session, [text('x'.repeat(1000)), image(10)])
    for (let words = 0; words < 6; words += 1) say(session, [text('and?')])
  }
  return session
}

const roomy = { results: { highWater: 2_000_000 }, images: { maxImages: 2000 } }
const tight = {
  results: { maxBytes: 100, highWater: 1_000_000, lowWater: 500_000 },
  images: { maxImages: 1000, lowWater: { images: 500 } },
}

describe('what planning reads of a surface of 10,000 entries', () => {
  it('is the surface once, then only what is new while the sums are under the mark', () => {
    const session = long()
    const { log, reads } = counted(session)
    const meter = new SurfaceMeter(log)
    const plan = (): number =>
      planPruning(log, roomy.results, meter).length + planImagePruning(log, roomy.images, meter).length
    expect(plan()).toBe(0)
    expect(reads).toEqual({ events: session.surface.nodes.length, entries: session.surface.nodes.length })

    Object.assign(reads, { events: 0, entries: 0 })
    expect(plan()).toBe(0)
    expect(reads).toEqual({ events: 0, entries: 0 })

    const before = session.length
    use(session, [text('new')])
    say(session, [text('more')])
    expect(plan()).toBe(0)
    expect(reads).toEqual({ events: session.length - before, entries: 0 })
  })

  it('is each surface entry a bounded number of times over the mark, and only the payloads that are cut', () => {
    const session = long()
    const { log, reads } = counted(session)
    const meter = new SurfaceMeter(log)
    expect(meter.sums.results).toBe(1250)
    Object.assign(reads, { events: 0, entries: 0 })
    const results = planPruning(log, tight.results, meter).length
    expect(results).toBeGreaterThan(700)
    expect(reads.entries).toBe(session.surface.nodes.length)
    expect(reads.events).toBe(results)

    Object.assign(reads, { events: 0, entries: 0 })
    expect(planImagePruning(log, tight.images, meter)).toHaveLength(750)
    expect(reads.entries).toBe(session.surface.nodes.length)
    expect(reads.events).toBe(1250)
  })

  it('needs no second look at a payload after the replacement of a range', () => {
    const session = long()
    const { log, reads } = counted(session)
    const meter = new SurfaceMeter(log)
    const { nodes } = session.surface
    expect(meter.sums.results).toBe(1250)
    // Entry 1 to 800 are whole rounds of eight: a call, its answer and six messages.
    const range = nodes.slice(1, 801)
    const [startSeq, endSeq] = [range[0], range.at(-1)]
    if (startSeq === undefined || endSeq === undefined) throw new Error('the surface is shorter than it was made')
    Object.assign(reads, { events: 0, entries: 0 })
    session.append(
      'user/message',
      { id: 's' as never, role: 'user', content: [text('a summary')], source: { kind: 'plugin', plugin: 'test' } },
      { surfaceOp: { op: 'replace', startSeq, endSeq }, sourceEventSeqs: range },
    )
    expect(meter.sums).toEqual(new SurfaceMeter(session).sums)
    expect(meter.sums.results).toBe(1150)
    expect(reads.events).toBe(1)
  })
})
