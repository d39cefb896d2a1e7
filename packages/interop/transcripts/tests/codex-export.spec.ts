import { Session } from '@palimpsest/session'
import type { Message, StoredSession } from '@palimpsest/session'
import { samplesOf } from '@palimpsest/testkit'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { exportCodex } from '../src/codex/export.ts'
import { importCodex } from '../src/codex/import.ts'
import { importVocabulary } from '../src/index.ts'
import { expectSound } from './import-laws.ts'
import { anyPlayedSession } from './played-session.ts'
import { importBytes, MemorySink, sampleBytes } from './support.ts'

const seed = Number(process.env['PALIMPSEST_SEED'] ?? Date.now() % 1_000_000_000)

const derived = (session: StoredSession): readonly Message[] =>
  Session.restore(structuredClone(session), { vocabulary: importVocabulary, unknown: 'keep' }).deriveMessages()

/** What must be the same: roles, blocks and their order. Ids, sources and names of attachments are not. */
function said(messages: readonly Message[]): unknown[] {
  return messages.map(({ role, content }) => ({
    role,
    content: content.map((block) =>
      block.type === 'image' ? { type: 'image', id: block.attachment.attachmentId } : block,
    ),
  }))
}

/** The same as a rollout without attachments can hold it. */
function written(messages: readonly Message[]): unknown[] {
  return messages.map(({ role, content }, index) => {
    const blocks = content.map((block) => {
      if (block.type !== 'tool-result') return plain(block)
      return { type: block.type, toolCallId: block.toolCallId, content: block.content.map(plain) }
    })
    const isHead = index === 0 && role === 'system'
    const text = content.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('\n\n')
    return { role, content: isHead ? [{ type: 'text', text }] : blocks }
  })
}

function plain(block: Message['content'][number]): unknown {
  if (block.type === 'image') {
    const { mediaType, bytes, attachmentId } = block.attachment
    return { type: 'text', text: `[${mediaType}, ${bytes} bytes, ${attachmentId}]` }
  }
  return ['text', 'reasoning', 'tool-call'].includes(block.type) ? block : { type: 'text', text: JSON.stringify(block) }
}

test(`what a random session derives, an import of its export derives too (seed ${seed})`, async () => {
  await fc.assert(
    fc.asyncProperty(anyPlayedSession, async (session) => {
      const bytes = new TextEncoder().encode(exportCodex(session).text)
      const imported = await importBytes(bytes, { importer: importCodex })
      expectSound(imported, bytes)
      const [again] = imported
      expect(again && written(derived(again.session))).toEqual(written(derived(session)))
    }),
    { numRuns: 30, seed },
  )
}, 30_000)

for (const name of samplesOf('codex')) {
  test(`${name}: its export imports to the same list`, async () => {
    const sink = new MemorySink()
    const [first] = await importBytes(sampleBytes(name), { importer: importCodex, name, sink })
    if (first === undefined) throw new Error('no session')
    const { text, report } = exportCodex(first.session, { attachment: (ref) => sink.stored.get(ref.attachmentId) })
    const [second] = await importBytes(new TextEncoder().encode(text), { importer: importCodex, name })
    expect(second && said(derived(second.session))).toEqual(said(derived(first.session)))
    expect(report.losses.map(({ code }) => code)).not.toContain('reasoning/seal')
    expect(exportCodex(first.session, { attachment: (ref) => sink.stored.get(ref.attachmentId) }).text).toBe(text)
  })
}
