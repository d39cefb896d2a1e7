import { Session, deriveEventMessage, foldSurface, traceFindings } from '@palimpsest/session'
import type { ContentBlock, StoredSession } from '@palimpsest/session'
import {
  assistantData,
  isSampleAbsent,
  resultData,
  samplesOf,
  systemData,
  text,
  toolCall,
  userData,
} from '@palimpsest/testkit'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { exportClaudeCode } from '../src/claude-code/export.ts'
import { tangled } from './fixture.ts'
import { seed } from './fuzz.ts'
import { expectSound } from './import-laws.ts'
import { anyPlayedSession } from './played-session.ts'
import { MemorySink, importBytes, sampleBytes } from './support.ts'

const bytesOf = (file: string): Uint8Array => new TextEncoder().encode(file)

/**
 * What two lists must share: roles, who spoke, and every block. Left out: ids, sources and their private data, the
 * head, messages without content, names and sizes of attachments, the spelling of JSON arguments. Other system messages
 * are reminders, blocks that no file of Claude Code holds are text.
 */
function heard({ events }: Pick<StoredSession, 'events'>): unknown[] {
  const surface = foldSurface(events).nodes.flatMap((seq) => events[seq] ?? [])
  return surface.flatMap((event, place) => {
    const message = deriveEventMessage(event)
    if (message === null || message.content.length === 0 || (message.role === 'system' && place === 0)) return []
    const { role, content, source } = message
    const kind = source.kind === 'user' || source.kind === 'plugin' ? { kind: source.kind } : {}
    return [{ role: role === 'system' ? 'user' : role, ...kind, content: content.map((block) => plain(block)) }]
  })
}

function plain(block: ContentBlock): unknown {
  switch (block.type) {
    case 'text':
    case 'reasoning':
      return { type: block.type, text: block.text }
    case 'image':
    case 'document':
      return { type: block.type, mediaType: block.attachment.mediaType }
    case 'tool-call':
      return { type: block.type, id: block.id, name: block.name, arguments: argumentsOf(block.arguments) }
    case 'tool-result':
      return { ...block, isError: block.isError === true, content: block.content.map((part) => plain(part)) }
    default:
      return { type: 'text', text: JSON.stringify(block) }
  }
}

function argumentsOf(written: string): unknown {
  try {
    const value: unknown = JSON.parse(written.trim() === '' ? '{}' : written)
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value
  } catch {
    // Text that is no JSON stands in an object.
  }
  return { palimpsest_invalid_arguments: written }
}

const nothing = { events: [] }
const attachment = (): Uint8Array => new Uint8Array([1, 2, 3])

test(`what is exported imports as the same conversation (seed ${seed})`, async () => {
  await fc.assert(
    fc.asyncProperty(anyPlayedSession, async (session) => {
      const { text: file } = exportClaudeCode(session, { attachment })
      const imported = await importBytes(bytesOf(file))
      expectSound(imported, bytesOf(file))
      expect(imported.length).toBeLessThanOrEqual(1)
      expect(heard(imported[0]?.session ?? nothing)).toEqual(heard(session))
    }),
    { numRuns: Number(process.env['PALIMPSEST_MODEL_RUNS'] ?? 30), seed },
  )
})

test(`lines have valid uuids of their own, each after one that is there, and the same each time (seed ${seed})`, () => {
  fc.assert(
    fc.property(anyPlayedSession, (session) => {
      const { text: file } = exportClaudeCode(session)
      expect(exportClaudeCode(structuredClone(session)).text).toBe(file)
      const seen = new Set<string>()
      for (const { uuid, parentUuid } of linesOf(file)) {
        expect(uuid).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
        expect(parentUuid === null || seen.has(parentUuid)).toBe(true)
        seen.add(uuid)
      }
      expect(seen.size).toBe(linesOf(file).length)
    }),
    { numRuns: 20, seed },
  )
})

for (const name of samplesOf('claude-code')) {
  test.skipIf(isSampleAbsent(name))(`${name}: import, export and import again derive the same list`, async () => {
    const sink = new MemorySink()
    const lookUp = ({ attachmentId }: { attachmentId: string }) => sink.stored.get(attachmentId)
    for (const { session } of await importBytes(sampleBytes(name), { name, sink })) {
      const { text: file } = exportClaudeCode(session, { attachment: lookUp })
      const [again] = await importBytes(bytesOf(file))
      expect(heard(again?.session ?? nothing)).toEqual(heard(session))
      expect(traceFindings(again?.session.events ?? [])).toEqual([])
    }
  })
}

test('times, ids, seals, usage and what tools showed come back where Claude Code wrote them', async () => {
  const sink = new MemorySink()
  const [main, agent] = await importBytes(tangled().bytes(), { sink })
  if (main === undefined || agent === undefined) throw new Error('two sessions were expected')
  const [again] = await importBytes(bytesOf(exportClaudeCode(agent.session).text))
  expect(again?.session.header).toMatchObject({ id: 's-1.agent-a1', parentSession: 's-1', delegationDepth: 1 })
  const told = ({ events }: StoredSession): unknown[] =>
    events.flatMap(({ type, data, time }): unknown[] => {
      if (type === 'assistant/message') return [{ time, usage: data.usage, id: data.message.id }]
      return type === 'tool/result' ? [{ time, meta: data.meta }] : []
    })
  expect(told(again?.session ?? agent.session)).toEqual(told(agent.session))
})

/** A session with one of everything that a file of Claude Code has no place for. */
function foreignSession(): Session {
  const session = Session.create({ id: 'x', now: () => 0 })
  session.append('system/message', systemData('s', [text('Be brief.')]), { surfaceOp: 'append' })
  session.append('user/message', userData('u', [text('Go')]), { surfaceOp: 'append' })
  const said = [{ type: 'reasoning', text: 'Hm.' } as const, toolCall('c1', 'read', '{"path'), toolCall('c2')]
  session.append('assistant/message', assistantData('a', said), { surfaceOp: 'append' })
  session.append('tool/result', resultData('r2', 'c2', [text('two')]), { surfaceOp: 'append' })
  session.append('tool/result', resultData('r1', 'c1', [text('one')], { turn: 1, step: 1 }, true), {
    surfaceOp: 'append',
  })
  session.append('user/message', userData('e', []), { surfaceOp: 'append' })
  return session
}

test('what the file cannot hold is stated, with how often and where', () => {
  const { events, header } = foreignSession()
  const { report } = exportClaudeCode({ header, events, inheritedEventCount: 0 })
  expect(report.losses.map(({ code, count, seqs }) => ({ code, count, seqs }))).toEqual([
    { code: 'system/prompt', count: 1, seqs: [0] },
    { code: 'model/provider', count: 1, seqs: [2] },
    { code: 'reasoning/seal', count: 1, seqs: [2] },
    { code: 'call/arguments', count: 1, seqs: [2] },
    { code: 'message/empty', count: 1, seqs: [5] },
  ])
})

test('a response is one line per block, and each result hangs off the line of its call', () => {
  const { events, header } = foreignSession()
  const lines = linesOf(exportClaudeCode({ header, events, inheritedEventCount: 0 }).text)
  const [user, thought, first, second, two, one] = lines
  expect(lines).toHaveLength(6)
  expect([thought, first, second].map((line) => line?.parentUuid)).toEqual([user?.uuid, thought?.uuid, first?.uuid])
  expect([two?.parentUuid, one?.parentUuid]).toEqual([second?.uuid, first?.uuid])
  expect(one).toMatchObject({
    sourceToolAssistantUUID: first?.uuid,
    message: { content: [{ type: 'tool_result', tool_use_id: 'c1', content: 'one', is_error: true }] },
  })
})

test('a summary that the surface begins with is a compaction of Claude Code', async () => {
  const session = foreignSession()
  const summary = { ...userData('sum', [text('So far')]), source: { kind: 'plugin', plugin: 'compact' } as const }
  session.append('user/message', summary, {
    surfaceOp: { op: 'replace', startSeq: 1 as never, endSeq: 5 as never },
    sourceEventSeqs: [1, 2, 3, 4, 5] as never,
  })
  const { events, header } = session
  const { text: file, report } = exportClaudeCode({ header, events, inheritedEventCount: 0 })
  expect(linesOf(file)).toMatchObject([
    { type: 'system', subtype: 'compact_boundary', parentUuid: null },
    { type: 'user', isCompactSummary: true, message: { content: 'So far' } },
  ])
  expect(report.losses).toContainEqual(expect.objectContaining({ code: 'history/replaced', seqs: [1, 2, 3, 4, 5] }))
  const [again] = await importBytes(bytesOf(file))
  expect(heard(again?.session ?? nothing)).toEqual(heard({ events }))
})

interface ExportedLine {
  readonly uuid: string
  readonly parentUuid: string | null
}

function linesOf(file: string): ExportedLine[] {
  return file
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as ExportedLine)
}
