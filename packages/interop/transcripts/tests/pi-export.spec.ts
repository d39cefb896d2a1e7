import { Session } from '@palimpsest/session'
import type { ContentBlock, Message, StoredSession } from '@palimpsest/session'
import { samplesOf } from '@palimpsest/testkit'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { importVocabulary } from '../src/index.ts'
import { exportPi } from '../src/pi/export.ts'
import { importPi } from '../src/pi/import.ts'
import { piProvider } from '../src/pi/providers.ts'
import { seed } from './fuzz.ts'
import { expectSound } from './import-laws.ts'
import { PiFixture, tangledPi } from './pi-fixture.ts'
import { anyPlayedSession } from './played-session.ts'
import { importBytes, MemorySink, sampleBytes } from './support.ts'

const attachments = new MemorySink()
const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text)

async function imported(bytes: Uint8Array): Promise<StoredSession> {
  const [first] = await importBytes(bytes, { importer: importPi, sink: attachments })
  if (first === undefined) throw new Error('nothing was imported')
  expectSound([first], bytes)
  return first.session
}

const exported = (session: StoredSession): ReturnType<typeof exportPi> =>
  exportPi(session, { attachment: ({ attachmentId }) => attachments.stored.get(attachmentId) })

const listOf = (session: StoredSession): readonly Message[] =>
  Session.restore(structuredClone(session), { vocabulary: importVocabulary }).deriveMessages()

/**
 * What must be the same: roles, texts, images, calls and answers in order, who answered. Aside: ids, lines and other
 * members of sources, the layout of the JSON of arguments, and what the losses say: absent images and foreign blocks are
 * placeholders.
 */
function essence(messages: readonly Message[], isOurs = false): unknown[] {
  return messages.map(({ role, source, content }) => ({
    role,
    by: source.kind === 'model' ? piProvider(source.provider).provider : source.kind,
    ...(source.kind === 'model' ? { model: source.model } : {}),
    content: content.map((block) => (isOurs ? withoutLosses(block) : block)).map(plain),
  }))
}

function plain(block: ContentBlock): unknown {
  if (block.type === 'image')
    return { type: 'image', id: block.attachment.attachmentId, as: block.attachment.mediaType }
  if (block.type === 'tool-result') return { ...block, content: block.content.map(plain) }
  if (block.type !== 'tool-call') return block
  try {
    return { ...block, arguments: JSON.parse(block.arguments) as unknown }
  } catch {
    return block
  }
}

function withoutLosses(block: ContentBlock): ContentBlock {
  if (block.type === 'tool-result') return { ...block, content: block.content.map(withoutLosses) }
  if (block.type === 'image') {
    const { mediaType, bytes, attachmentId } = block.attachment
    return { type: 'text', text: `[${mediaType}, ${bytes} bytes, ${attachmentId}]` }
  }
  const isKnown = ['text', 'reasoning', 'tool-call'].includes(block.type)
  return isKnown ? block : { type: 'text', text: `[${block.type}]` }
}

/** Private data of the blocks of each response: what goes back to a provider. */
const replayOf = (messages: readonly Message[]): unknown[] =>
  messages.flatMap(({ source }) => (source.kind === 'model' ? [source.replayState] : []))

describe.each(samplesOf('pi'))('%s', (name) => {
  test('exported and imported again, it derives the same list, seals included', async () => {
    const first = await imported(sampleBytes(name))
    const { text } = exported(first)
    const second = await imported(bytesOf(text))
    expect(essence(listOf(second))).toEqual(essence(listOf(first)))
    expect(exported(second).text).toEqual(text)
  })
})

test('a file with everything in it comes back with its seals, commands and images', async () => {
  const file = tangledPi()
  file.lines.splice(-2, 1)
  const first = await imported(file.bytes())
  const { text, report } = exported(first)
  const second = await imported(bytesOf(text))
  expect(essence(listOf(second))).toEqual(essence(listOf(first)))
  expect(replayOf(listOf(second))).toEqual(replayOf(listOf(first)))
  expect(report.losses.map(({ code }) => code)).toEqual(['result/error', 'history/raw', 'history/replaced'])
  expect(text).toContain('"role":"bashExecution"')
})

test('the parts of one summary of OpenAI are one block in the file, and two again behind it', async () => {
  const file = new PiFixture()
  const summary = ['One.', 'Two.'].map((text) => ({ type: 'summary_text', text }))
  const item = JSON.stringify({ type: 'reasoning', id: 'rs_1', summary, encrypted_content: 'ZW5j' })
  const thinking = { type: 'thinking', thinking: 'One.\n\nTwo.', thinkingSignature: item }
  file.user('Go')
  file.assistant([thinking, { type: 'text', text: 'Done.' }], { api: 'openai-responses', provider: 'openai' })
  const first = await imported(file.bytes())
  expect(listOf(first)[1]?.content).toMatchObject([{ text: 'One.' }, { text: 'Two.' }, { text: 'Done.' }])
  const { text } = exported(first)
  const written = JSON.parse(text.trimEnd().split('\n').at(-1) ?? '') as { message: { content: unknown[] } }
  expect(written.message.content[0]).toEqual(thinking)
  expect(replayOf(listOf(await imported(bytesOf(text))))).toEqual(replayOf(listOf(first)))
})

test('a file is one chain of entries with ids of 8 hex digits, none twice', async () => {
  const { text } = exported(await imported(tangledPi().bytes()))
  const [head, ...entries] = text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as { id: string; parentId: string | null; version?: number })
  expect(head).toMatchObject({ version: 3, id: 'p-1' })
  expect(new Set(entries.map(({ id }) => id)).size).toBe(entries.length)
  for (const [index, { id, parentId }] of entries.entries()) {
    expect(id).toMatch(/^[0-9a-f]{8}$/)
    expect(parentId).toBe(entries[index - 1]?.id ?? null)
  }
})

test(`any session, exported and imported, derives the same list but for what the losses say, seed ${seed}`, async () => {
  await fc.assert(
    fc.asyncProperty(anyPlayedSession, async (session) => {
      const { text, report } = exportPi(session)
      const messages = Session.restore(session).deriveMessages()
      const again = listOf(await imported(bytesOf(text)))
      expect(essence(again)).toEqual(essence(messages, true))
      for (const { count, seqs } of report.losses) expect(count).toBeGreaterThanOrEqual(seqs.length)
    }),
    { numRuns: 30, seed },
  )
})
