import { createReadStream, readFileSync } from 'node:fs'
import { Session } from '@palimpsest/session'
import { samplePath, samplesOf } from '@palimpsest/testkit'
import { describe, expect, it } from 'vitest'
import { openAnyVersion } from '../src/open.ts'
import { seen } from './oracle.ts'

const samples = samplesOf('deepseek-harness').filter((name) => name.includes('/v0'))

describe.skipIf(samples.length === 0)('a recorded log of version 0', () => {
  it.each(samples)('derives the messages that its own surface held: %s', async (name) => {
    const path = samplePath(name)
    const source = { name, bytes: () => createReadStream(path) }
    const opened = await openAnyVersion(source, { normalised: true })
    const derived = Session.restore(opened, { unknown: 'keep' }).deriveMessages()
    const { system, messages } = seen(readFileSync(path, 'utf8'))
    expect(messages.length).toBeGreaterThan(0)
    const head = system === '' ? [] : [{ role: 'system', content: [{ type: 'text', text: system }] }]
    expect(derived.slice(0, head.length)).toMatchObject(head)
    expect(derived.slice(head.length)).toEqual(messages)
  })
})
