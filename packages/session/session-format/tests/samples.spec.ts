import { createReadStream, readFileSync } from 'node:fs'
import { toAnthropic, toDeepSeek, validateAnthropic, validateDeepSeek } from '@palimpsest/provider-messages'
import { Session, assembleStream } from '@palimpsest/session'
import { samplePath, samplesOf } from '@palimpsest/testkit'
import { describe, expect, it } from 'vitest'
import { type OpenedFormat, openAnyVersion } from '../src/open.ts'
import { seen } from './oracle.ts'

const all = samplesOf('deepseek-harness')
const samples = all.filter((name) => name.includes('/v0'))

const textOf = (name: string): string => readFileSync(samplePath(name), 'utf8')

function openSample(name: string): Promise<OpenedFormat> {
  return openAnyVersion({ name, bytes: () => createReadStream(samplePath(name)) }, { normalised: true })
}

describe.skipIf(all.length === 0)('a recorded log of any version', () => {
  it.each(all)('derives the messages that its own surface held: %s', async (name) => {
    const derived = Session.restore(await openSample(name), { unknown: 'keep' }).deriveMessages()
    const { system, messages } = seen(textOf(name))
    expect(messages.length).toBeGreaterThan(0)
    const head = system === '' ? [] : [{ role: 'system', content: [{ type: 'text', text: system }] }]
    expect(derived.slice(0, head.length)).toMatchObject(head)
    expect(derived.slice(head.length)).toEqual(messages)
  })

  it.each(all)('derives what providers take: %s', async (name) => {
    const messages = Session.restore(await openSample(name), { unknown: 'keep' }).deriveMessages()
    expect(validateDeepSeek(toDeepSeek(messages), { profile: 'transcript' })).toEqual([])
    expect(validateAnthropic(toAnthropic(messages), { profile: 'transcript' })).toEqual([])
  })
})

describe.skipIf(samples.length === 0)('a recorded log of version 0', () => {
  it.each(samples)('gives every message the stream that built it: %s', async (name) => {
    const { events } = await openSample(name)
    let streamed = 0
    for (const event of events) {
      if (event.type !== 'assistant/message' || event.data.stream.length === 0) continue
      const { stream, message } = event.data
      // A call that the output limit cut off is in the stream, and the message is without it.
      expect(assembleStream(stream, { interrupted: true })).toEqual(message.content)
      streamed += 1
    }
    expect(streamed).toBe(textOf(name).match(/"type":"assistant\/message".*"sourceEventSeqs":\[\d/g)?.length ?? 0)
  })
})
