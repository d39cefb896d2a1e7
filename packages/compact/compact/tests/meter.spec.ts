import { type Message, type Session, sessionSeq } from '@palimpsest/session'
import { anyCommands, assistantData, codingSession, resultData, text, toolCall, userData } from '@palimpsest/testkit'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { TokenMeter, estimateImageTokens, estimateTokens } from '@palimpsest/compact'
import { grow, runs } from './random.ts'
import { add, answer, appended, call, fresh, prompt, replacing, reply, say } from './support.ts'

const header = (session: Session, model = 'm-1', tools?: object[]): void =>
  void add(session, 'request/header', {
    header: { config: { provider: 'p', model }, ...(tools === undefined ? {} : { tools }) },
    reason: 'change',
  })

/** A request at the log's end, and its answer with the usage that the provider gave. */
function asked(session: Session, usage: object, words = 'fine'): number {
  const { seq } = add(session, 'request/start', { turn: 1, step: 1, attempt: 1, throughSeq: session.length - 1 })
  const data = { ...assistantData(`a-${session.length}`, [text(words)]), usage, requestSeq: seq }
  return add(session, 'assistant/message', data, appended).seq
}

describe('a reading', () => {
  it('is an estimate of all entries and of the header in force, where no provider counted', () => {
    const session = fresh()
    prompt(session, 'You are terse.')
    header(session, 'm-1', [{ type: 'function', name: 'read', inputSchema: {} }])
    say(session, 'Read the log.')
    const meter = new TokenMeter(session)
    const entries = [0, 2].reduce((sum, seq) => sum + meter.entry(seq).tokens, 0)
    expect(meter.fixed().tokens).toBeGreaterThan(10)
    expect(meter.usage()).toMatchObject({ source: 'estimate', tokens: entries + meter.fixed().tokens, images: 0 })
  })

  it("is the provider's count, all input and output, and what came after it by estimate", () => {
    const session = fresh()
    header(session)
    say(session, 'Read the log.')
    asked(session, { inputTokens: 1000, outputTokens: 50, cacheReadTokens: 900 })
    const meter = new TokenMeter(session)
    expect(meter.usage()).toMatchObject({ source: 'provider', tokens: 1050 })
    const later = say(session, 'And now the tests.')
    expect(meter.usage().tokens).toBe(1050 + meter.entry(later).tokens)
    expect(meter.usage([userData('p', [text('more')])]).tokens).toBe(1050 + meter.entry(later).tokens + 5)
  })

  it('counts what arrived while the provider was answering', () => {
    const session = fresh()
    header(session)
    say(session, 'Read the log.')
    const start = add(session, 'request/start', { turn: 1, step: 1, attempt: 1, throughSeq: 1 })
    const steered = say(session, 'Wait, one more thing to look at.')
    const data = assistantData('a', [text('ok')])
    add(session, 'assistant/message', { ...data, usage: { inputTokens: 500 }, requestSeq: start.seq }, appended)
    const meter = new TokenMeter(session)
    expect(meter.usage().tokens).toBe(500 + meter.entry(steered).tokens)
  })

  it("adds the cache to the input where the figures keep it apart, as Anthropic's own do", () => {
    const session = fresh()
    say(session, 'Read the log.')
    const data = assistantData('a', [text('ok')])
    const usage = { inputTokens: 10, outputTokens: 5, cacheReadTokens: 700, cacheWriteTokens: 30 }
    add(session, 'assistant/message', { ...data, usage }, appended)
    expect(new TokenMeter(session).usage()).toMatchObject({ source: 'provider', tokens: 745 })
  })

  it('is an estimate again after a replacement, another model or other tools, until a provider counts anew', () => {
    const changes: ((session: Session) => void)[] = [
      (session) => say(session, 'short', replacing([1])),
      (session) => header(session, 'm-2'),
      (session) => header(session, 'm-1', [{ type: 'function', name: 'read' }]),
    ]
    for (const change of changes) {
      const session = fresh()
      header(session)
      say(session, 'Read the log.')
      asked(session, { inputTokens: 100_000 })
      const meter = new TokenMeter(session)
      expect(meter.usage().source).toBe('provider')
      change(session)
      expect(meter.usage()).toMatchObject({ source: 'estimate' })
      expect(meter.usage().tokens).toBeLessThan(200)
      asked(session, { inputTokens: 90 })
      expect(meter.usage()).toMatchObject({ source: 'provider', tokens: 90 })
    }
  })

  it('stays with the provider where a header changes nothing that costs tokens', () => {
    const session = fresh()
    header(session)
    say(session, 'Read the log.')
    asked(session, { inputTokens: 100 })
    const config = { provider: 'p', model: 'm-1', temperature: 1 }
    add(session, 'request/header', { header: { config }, reason: 'resume' })
    expect(new TokenMeter(session).usage().source).toBe('provider')
  })

  it('drops a count whose request left before a replacement that landed while the answer streamed', () => {
    const session = fresh()
    header(session)
    say(session, 'Read the log.')
    const start = add(session, 'request/start', { turn: 1, step: 1, attempt: 1, throughSeq: 1 })
    say(session, 'short', replacing([1]))
    const data = { ...assistantData('a', [text('ok')]), usage: { inputTokens: 9000 }, requestSeq: start.seq }
    add(session, 'assistant/message', data, appended)
    expect(new TokenMeter(session).usage().source).toBe('estimate')
  })

  it('does not take the count of a copied answer, which was measured on another surface', () => {
    const session = fresh()
    say(session, 'Read the log.')
    const data = {
      ...assistantData('a', [text('ok')]),
      usage: { inputTokens: 9000 },
      copiedFrom: { session: 's', seq: 1 },
    }
    add(session, 'assistant/message', data, appended)
    expect(new TokenMeter(session).usage().source).toBe('estimate')
  })

  it('is what a new meter reads, whatever was appended and replaced between two readings', () => {
    fc.assert(
      fc.property(
        fc.array(
          anyCommands.map((commands) => commands.slice(0, 8)),
          { maxLength: 6 },
        ),
        (parts) => {
          const session = fresh()
          const meter = new TokenMeter(session)
          for (const commands of parts) {
            grow(session, commands)
            const { tokens, bytes, images } = meter.usage()
            expect(new TokenMeter(session).usage()).toMatchObject({ tokens, bytes, images })
            const naive = meter.measure(session.deriveMessages())
            expect({ bytes: bytes - meter.fixed().bytes, images }).toEqual({ bytes: naive.bytes, images: naive.images })
          }
        },
      ),
      runs(25),
    )
  })

  it('counts no text twice: not after appends, and not after a replacement', () => {
    const session = fresh()
    const texts: string[] = []
    const meter = new TokenMeter(session, { countTokens: (one) => texts.push(one) })
    for (let n = 0; n < 50; n += 1) {
      say(session, `words ${n}`)
      meter.usage()
    }
    say(session, 'summary', replacing([3, 4, 5]))
    meter.usage()
    expect(texts).toHaveLength(51)
    expect(new Set(texts).size).toBe(51)
  })

  it('of a long session counts nothing again after an event that is not on the surface', () => {
    const session = fresh()
    for (const { type, data, intent } of codingSession({ seed: 5, events: 2000, replacementRate: 0.01 }))
      add(session, type, data, intent)
    let counted = 0
    const meter = new TokenMeter(session, { countTokens: () => (counted += 1) })
    meter.usage()
    const before = counted
    add(session, 'turn/end', { turn: 1, reason: { kind: 'completed' } })
    meter.usage()
    expect(counted).toBe(before)
  })
})

describe('an estimate', () => {
  it('counts four ASCII letters to a token, two digits or signs, and one of each CJK character', () => {
    expect(estimateTokens('')).toBe(0)
    expect(estimateTokens('abcd efgh ij')).toBe(3)
    expect(estimateTokens('12{}')).toBe(2)
    expect(estimateTokens('会话压缩')).toBe(4)
    expect(estimateTokens('жить')).toBe(2)
    expect(estimateTokens('😀')).toBe(2)
  })

  it('never falls when text is added', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.string({ unit: 'binary' }), (a, b) => {
        expect(estimateTokens(a + b)).toBeGreaterThanOrEqual(Math.max(estimateTokens(a), estimateTokens(b)))
        expect(estimateTokens(a + b)).toBeLessThanOrEqual(estimateTokens(a) + estimateTokens(b))
      }),
      runs(200),
    )
  })

  it('of an image goes by its pixels, never by its bytes, and its bytes count in base64', () => {
    const attachment = { attachmentId: `sha256:${'0'.repeat(64)}`, mediaType: 'image/png', bytes: 3_000_000 }
    expect(estimateImageTokens(attachment)).toBe(1600)
    expect(estimateImageTokens({ ...attachment, width: 750, height: 100 })).toBe(100)
    expect(estimateImageTokens({ ...attachment, width: 9000, height: 9000 })).toBe(4800)
    const message = userData('m', [{ type: 'image', attachment }])
    const size = new TokenMeter(fresh()).measure([message])
    expect(size.images).toBe(1)
    expect(size.tokens).toBe(1604)
    expect(size.bytes).toBeGreaterThan(4_000_000)
    expect(size.bytes).toBeLessThan(4_000_400)
  })

  it('looks into calls and results, and counts UTF-8 bytes', () => {
    const meter = new TokenMeter(fresh())
    const of = (message: Message): number => meter.measure([message]).tokens
    const small = of(assistantData('a', [toolCall('c', 'read', '{}')]).message)
    expect(of(assistantData('a', [toolCall('c', 'read', '{"path":"a/long/path.ts"}')]).message)).toBeGreaterThan(small)
    expect(of(resultData('r', 'c', [text('x'.repeat(400))]).message)).toBeGreaterThan(100)
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (words) => {
        const { role, content } = userData('u', [text(words)])
        const bytes = Buffer.byteLength(JSON.stringify({ role, content }))
        expect(meter.measure([userData('u', [text(words)])]).bytes).toBe(bytes)
      }),
      runs(100),
    )
  })

  it('counts sealed reasoning, which has no text, by what it is sealed in', () => {
    const data = assistantData('a', [{ type: 'reasoning', text: '' }])
    const replayState = { blocks: [{ providerMetadata: { openai: { encrypted: 'x'.repeat(4000) } } }] }
    const { message } = { ...data, message: { ...data.message, source: { ...data.message.source, replayState } } }
    const size = new TokenMeter(fresh()).measure([message])
    expect(size.tokens).toBeGreaterThan(1000)
    expect(size.bytes).toBeGreaterThan(4000)
  })

  it('of an entry that is not in the log is a RangeError, and of one that is off the surface nothing', () => {
    const session = fresh()
    header(session)
    const meter = new TokenMeter(session)
    expect(() => meter.entry(9)).toThrow(RangeError)
    expect(meter.entry(sessionSeq(0))).toEqual({ tokens: 0, bytes: 0, images: 0 })
    call(session, 'a')
    answer(session, 'a')
    reply(session, 'x')
  })
})
