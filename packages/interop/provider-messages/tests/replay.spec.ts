import { describe, expect, it } from 'vitest'
import type { Json } from '@palimpsest/session'
import { toAnthropic } from '../src/index.ts'
import { anthropicSeal, openAiItem, providerFamily, replayMetadata } from '../src/shared/replay.ts'
import { text, thinking, user } from './fixtures/messages.ts'

const metadata = (providerMetadata: Json): Json => ({ providerMetadata })

describe('replay state', () => {
  it.each<[string, Json, Json]>([
    ['a signature', { type: 'thinking', signature: 's' }, { anthropic: { signature: 's' } }],
    ['redacted data', { type: 'redacted_thinking', data: 'd' }, { anthropic: { redactedData: 'd' } }],
  ])('of the older form and of the metadata form read the same: %s', (_, plain, wrapped) => {
    expect(anthropicSeal(metadata(wrapped))).toEqual(plain)
    expect(anthropicSeal(plain)).toEqual(plain)
    expect(replayMetadata(plain)).toEqual(wrapped)
    expect(replayMetadata(metadata(wrapped))).toBe(wrapped)
  })

  it('without a usable seal is none', () => {
    for (const entry of [null, undefined, 'x', [], {}, metadata({ anthropic: {} }), metadata({ openai: {} })])
      expect(anthropicSeal(entry)).toBeUndefined()
    expect(anthropicSeal(metadata({ anthropic: { signature: '\ud800' } }))).toBeUndefined()
    expect(replayMetadata({ type: 'thinking' })).toBeUndefined()
  })

  it('that could not go back as it came is not given back', () => {
    for (const sent of [
      { google: 'x' },
      { google: null },
      { google: { thoughtSignature: '\ud800' } },
      { '\ud800': {} },
    ])
      expect(replayMetadata(metadata(sent))).toBeUndefined()
  })

  it('of OpenAI names the item, and its bytes where they came', () => {
    expect(openAiItem(metadata({ openai: { itemId: 'rs_1', reasoningEncryptedContent: null } }))).toEqual({
      itemId: 'rs_1',
      encryptedContent: undefined,
    })
    expect(openAiItem(metadata({ azure: { itemId: 'rs_1', reasoningEncryptedContent: 'e' } }))).toEqual({
      itemId: 'rs_1',
      encryptedContent: 'e',
    })
    expect(openAiItem(metadata({ anthropic: { signature: 's' } }))).toBeUndefined()
  })

  it('goes back to the family of its provider, in either form', () => {
    expect(providerFamily('anthropic.messages')).toBe('anthropic')
    const options = { model: 'claude-sonnet-4-5', intactThrough: 9 }
    const seal = metadata({ anthropic: { signature: 'sig' } })
    const written = toAnthropic([user(), thinking([text('so')], { provider: 'anthropic.messages' }, seal)], options)
    expect(written.messages[1]?.content[0]).toEqual({ type: 'thinking', thinking: 'let me see', signature: 'sig' })
    const asked = { ...options, provider: 'anthropic.messages' }
    expect(JSON.stringify(toAnthropic([user(), thinking([text('so')])], asked))).toContain('"signature":"sig"')
    const foreign = toAnthropic([user(), thinking([text('so')], { provider: 'anthropics' }, seal)], options)
    expect(JSON.stringify(foreign)).not.toContain('signature')
  })
})
