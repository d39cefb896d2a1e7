import type { ImageBlock, Message, Session } from '@palimpsest/session'
import { jsonEqual, SessionAcceptanceError } from '@palimpsest/session'
import { toAnthropic, toOpenAiChat } from '@palimpsest/provider-messages'
import { assistantData, text } from '@palimpsest/testkit'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { measureSurface, pruneImages, pruneToolResults, resultPruning } from '../src/index.ts'
import {
  anyMoves,
  bytesOf,
  contentAt,
  fresh,
  image,
  MODEL,
  play,
  reply,
  say,
  seed,
  use,
  violations,
} from './sessions.ts'

/** Public failure reports, named by their id in the corpus. */

/** Whether the later list is the earlier one and more, message by message. */
function extendsList(earlier: readonly Message[], later: readonly Message[]): boolean {
  return earlier.every((message, index) => later[index] === message)
}

describe('CA-01: once over the limit, each new result blanks one more old one', () => {
  const turns = 100
  const size = 5000
  const sent = (session: Session): string[] =>
    toOpenAiChat(session.deriveMessages()).messages.map((message) => JSON.stringify(message))

  it.each([
    ['that reach the low mark', { maxBytes: 500, keepRecent: 4, highWater: 100_000, lowWater: 50_000 }],
    ['that cannot reach the low mark', { maxBytes: 2000, keepRecent: 4, highWater: 60_000, lowWater: 20_000 }],
  ])('acts in rare large steps %s; between steps the list is an extension', (_, marks) => {
    const session = fresh()
    const pruning = resultPruning({ results: marks })
    let breaks = 0
    let before = session.deriveMessages()
    let sentBefore = sent(session)
    for (let turn = 0; turn < turns; turn += 1) {
      say(session, [text(`turn ${turn}`)])
      use(session, [text('r'.repeat(size))])
      const isStep = pruning.run(session).results?.replaced.length !== 0
      const now = session.deriveMessages()
      const sentNow = sent(session)
      expect(extendsList(before, now)).toBe(!isStep)
      expect(sentBefore.every((message, index) => sentNow[index] === message)).toBe(!isStep)
      if (isStep) breaks += 1
      before = now
      sentBefore = sentNow
    }
    expect(breaks).toBeGreaterThan(0)
    expect(breaks).toBeLessThanOrEqual(Math.ceil((turns * size) / (marks.highWater - marks.lowWater)))
  })
})

describe('IM-01: 63 image results make a request too big in bytes while tokens are few', () => {
  const bytes = 1_700_000
  const budget = { maxImages: 50, maxBytes: 20_000_000, keepRecent: 4 }

  function shots(): Session {
    const session = fresh()
    for (let count = 0; count < 63; count += 1) use(session, [image(bytes, count)])
    say(session, [text('what do you see?')])
    return session
  }

  it('keeps the budget with all pairs and the newest images, and does the same every time', () => {
    const session = shots()
    const original = session.events
    const wire = (of: Session): string =>
      JSON.stringify(
        toAnthropic(of.deriveMessages(), { model: MODEL, image: () => 'AAAA', limits: { images: budget.maxImages } }),
      )
    expect(() => wire(session)).toThrowError(expect.objectContaining({ code: 'budget/images' }) as Error)
    const outcome = pruneImages(session, budget)
    expect(outcome.kind).toBe('pruned')
    expect(measureSurface(session).imageBytes).toBeLessThanOrEqual(budget.maxBytes)
    expect(measureSurface(session).images).toBe(Math.floor(budget.maxBytes / 2 / bytes))

    const derived = session.deriveMessages()
    const blocks = derived.flatMap(({ content }) => content)
    expect(blocks.filter(({ type }) => type === 'tool-call')).toHaveLength(63)
    const results = blocks.flatMap((block) => (block.type === 'tool-result' ? [block.content] : []))
    expect(results).toHaveLength(63)
    expect(results.map(([block]) => block?.type)).toEqual([
      ...Array.from({ length: 58 }, () => 'text'),
      ...Array.from({ length: 5 }, () => 'image'),
    ])
    expect(violations(session)).toEqual([])
    expect(session.events.slice(0, original.length)).toEqual(original)

    const again = shots()
    pruneImages(again, budget)
    expect(bytesOf(again)).toBe(bytesOf(session))
    expect(wire(again)).toBe(wire(session))
  })
})

describe('TH-01: pruning shortens thinking and keeps its signature', () => {
  const thought = (index: number): ReturnType<typeof assistantData> => {
    const content = [{ type: 'reasoning', text: `thought ${index} ${'long '.repeat(500)}` } as const, text('so')]
    const data = assistantData(`signed-${index}`, content)
    const replayState = { blocks: [{ type: 'thinking', signature: `sig-${index}` }, null] }
    return { ...data, message: { ...data.message, source: { ...data.message.source, replayState } } }
  }

  it('every reasoning block is the logged one after any pruning', () => {
    fc.assert(
      fc.property(anyMoves, fc.nat({ max: 300 }), (moves, maxBytes) => {
        const session = fresh()
        for (const [index, move] of moves.entries()) {
          session.append('assistant/message', thought(index), { surfaceOp: 'append' })
          play([move], session)
        }
        const assistants = (): readonly Message[] => session.deriveMessages().filter(({ role }) => role === 'assistant')
        const logged = assistants().map((message) => structuredClone(message))
        pruneToolResults(session, { maxBytes, keepRecent: 0, highWater: 0 })
        pruneImages(session, { maxImages: 0, maxBytes: 0 })
        expect(jsonEqual(assistants() as never, logged as never)).toBe(true)
      }),
      { numRuns: 50, seed },
    )
  })

  it('nobody can replace the inside of an assistant message', () => {
    const session = fresh()
    const { seq } = session.append('assistant/message', thought(1), { surfaceOp: 'append' })
    reply(session, [text('end')])
    const shortened = { ...thought(1), message: { ...thought(1).message, content: [text('so')] } }
    const op = { op: 'replace', startSeq: seq, endSeq: seq }
    const written = bytesOf(session)
    const codeOf = (intent: object): string => {
      try {
        session.append('assistant/message', shortened, intent as never)
      } catch (error) {
        if (error instanceof SessionAcceptanceError) return error.code
      }
      return 'accepted'
    }
    expect(codeOf({ surfaceOp: op, sourceEventSeqs: [seq] })).toBe('sources/forbidden')
    expect(codeOf({ surfaceOp: op })).toBe('sources/uncovered')
    expect(bytesOf(session)).toBe(written)
  })
})

describe('IM-02: images that are fine one at a time and too large together', () => {
  const wide = (digit: number): ImageBlock => {
    const { attachment } = image(200_000, digit)
    return { type: 'image', attachment: { ...attachment, width: 1170, height: 2532 } }
  }

  it('are judged in the whole request, which goes out again once there are fewer', () => {
    const session = fresh()
    const send = (): unknown =>
      toAnthropic(session.deriveMessages(), { model: MODEL, image: () => new Uint8Array([1, 2, 3]) })
    for (let count = 0; count < 20; count += 1) say(session, [wide(count)])
    expect(send).not.toThrow()
    say(session, [wide(20)])
    expect(send).toThrowError(expect.objectContaining({ code: 'budget/image-side' }) as Error)
    pruneImages(session, { maxImages: 20 })
    expect(send).not.toThrow()
    expect(measureSurface(session).images).toBeGreaterThan(0)
  })
})

describe('IM-03: an image that the endpoint refuses', () => {
  it('can be taken off the surface, after which turns of text go out', () => {
    const session = fresh()
    use(session, [text('taken'), image(4_000_000)])
    say(session, [text('never mind the picture')])
    const limits = { imageBytes: 4 }
    const send = (): unknown =>
      toAnthropic(session.deriveMessages(), { model: MODEL, image: () => new Uint8Array(4), limits })
    expect(send).toThrowError(expect.objectContaining({ code: 'budget/image-bytes' }) as Error)
    expect(pruneImages(session, { maxImages: 0, keepRecent: 0 }).kind).toBe('pruned')
    expect(JSON.stringify(send())).toContain('never mind the picture')
    expect(violations(session)).toEqual([])
  })
})

describe('EN-02: a result that is cut between the halves of an emoji', () => {
  it('has no lone surrogate, wherever the cut falls', () => {
    for (let maxBytes = 250; maxBytes < 280; maxBytes += 1) {
      const session = fresh()
      use(session, [text('\u{1f600}'.repeat(500))])
      const { replaced } = pruneToolResults(session, { maxBytes, keepRecent: 0, highWater: 0 })
      expect(replaced).toHaveLength(1)
      const [block] = contentAt(session, replaced[0]?.by ?? -1)
      expect(block?.text).toMatch(/^\u{1f600}+.*\u{1f600}+$/su)
      expect(block?.text).not.toMatch(/\p{Surrogate}/u)
    }
  })
})
