import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Summarize, runCompaction } from '@palimpsest/compact'
import { Session, SessionStore, deriveMessagesAt, sessionId } from '@palimpsest/session'
import type { Message, SessionEvent } from '@palimpsest/session'
import { jsonlPersistence } from '@palimpsest/session-persistence-jsonl'
import { Child, type ChildProgram, bundleChild } from '@palimpsest/testkit'
import { importClaudeCode, importVocabulary } from '@palimpsest/transcripts'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { violations } from './providers.ts'
import { anyMoves, anyMake, grow, pickRange, restored, runs } from './random.ts'
import { answer, bare, call, fresh, held, nodesOf, range, replacing, reply, say, short, vocabulary } from './support.ts'

const textOf = ({ content }: Message): string =>
  content.map((block) => (block.type === 'text' ? block.text : block.type)).join(' ')
const texts = (session: Session): string[] => session.deriveMessages().map(textOf)

/** Repeats what it read. */
const gather: Summarize = ({ messages }) => ({ text: messages.map(textOf).join(' ') })
const shrinking = (): (() => number) => {
  let calls = 0
  return () => (calls++ === 0 ? 2 : 1)
}

describe('CS-01: a cut inside a batch', () => {
  /** The batch of `a` and `b`, half answered when the cut was computed. */
  function batch(): Session {
    const session = fresh()
    say(session, 'Look at both files')
    call(session, 'a', 'b')
    answer(session, 'a')
    answer(session, 'b')
    reply(session, 'Both are fine')
    return session
  }

  it('is refused where it is planned, on either side', async () => {
    for (const [start, end] of [
      [0, 2],
      [3, 4],
      [2, 2],
    ] as const) {
      await expect(runCompaction(batch(), range(start, end), short, bare)).rejects.toMatchObject({
        code: 'range/unbalanced',
      })
    }
  })

  it('cannot be carried out while the batch is half answered: the range has no end there', async () => {
    const session = batch()
    const half = restored(session.header, session.events.slice(0, 3))
    await expect(runCompaction(half, range(0, 2), short, bare)).rejects.toMatchObject({ code: 'range/unbalanced' })
  })

  it('that an old log holds is refused on replay, with the code and the call', () => {
    const session = batch()
    const cut = {
      type: 'user/message',
      seq: 5,
      time: 2000,
      surfaceOp: { op: 'replace', startSeq: 0, endSeq: 2 },
      sourceEventSeqs: [0, 1, 2],
      data: { id: 'cut', role: 'user', content: [{ type: 'text', text: 'Summary' }], source: { kind: 'user' } },
    } as unknown as SessionEvent
    expect(() => restored(session.header, [...session.events, cut])).toThrow(
      expect.objectContaining({ code: 'pairing/split', seq: 5, message: expect.stringContaining('b') as string }),
    )
  })

  it("in another agent's file moves to before the call when it is imported, with a warning", async () => {
    const base = { isSidechain: false, sessionId: 's', timestamp: '2026-01-01T00:00:00.000Z' }
    const result = (id: string): object => ({
      role: 'user',
      content: [{ type: 'tool_result', tool_use_id: id, content: id }],
    })
    const calling = (id: string): object => ({
      id: 'm1',
      type: 'message',
      role: 'assistant',
      model: 'claude-x',
      content: [{ type: 'tool_use', id, name: 'Bash', input: {} }],
      stop_reason: null,
      usage: { input_tokens: 1, output_tokens: 1 },
    })
    const kept = { anchorUuid: 'u6', uuids: ['u5'] }
    const lines = [
      { uuid: 'u1', parentUuid: null, type: 'user', message: { role: 'user', content: 'One' } },
      { uuid: 'u2', parentUuid: 'u1', type: 'assistant', requestId: 'r1', message: calling('a') },
      { uuid: 'u3', parentUuid: 'u2', type: 'assistant', requestId: 'r1', message: calling('b') },
      { uuid: 'u4', parentUuid: 'u3', type: 'user', message: result('a') },
      { uuid: 'u5', parentUuid: 'u4', type: 'user', message: result('b') },
      {
        uuid: 'c',
        parentUuid: null,
        logicalParentUuid: 'u5',
        type: 'system',
        subtype: 'compact_boundary',
        compactMetadata: { trigger: 'auto', preTokens: 9, preservedMessages: kept },
      },
      {
        uuid: 'u6',
        parentUuid: 'c',
        type: 'user',
        isCompactSummary: true,
        isVisibleInTranscriptOnly: true,
        message: { role: 'user', content: 'Summary' },
      },
      { uuid: 'u7', parentUuid: 'u5', type: 'user', message: { role: 'user', content: 'Two' } },
    ].map((line) => `${JSON.stringify({ ...base, ...line })}\n`)
    const source = {
      name: 'cut.jsonl',
      async *bytes() {
        yield new TextEncoder().encode(lines.join(''))
      },
    }
    const put = (): never => {
      throw new Error('nothing is attached')
    }
    for await (const { session, report } of importClaudeCode(source, { attachments: () => ({ put }) })) {
      const { events, header } = session
      const imported = Session.restore({ header, events, inheritedEventCount: 0 }, { vocabulary: importVocabulary })
      expect(texts(imported)).toEqual(['Summary', 'tool-call tool-call', 'tool-result', 'tool-result', 'Two'])
      expect(violations(imported.deriveMessages())).toEqual([])
      expect(report.warnings.map(({ code }) => code)).toContain('compaction/cut-moved')
    }
    expect.assertions(3)
  })
})

describe('CW-02: what is written while a compaction is in flight', () => {
  it('stays visible behind the summary', async () => {
    const session = fresh()
    for (const words of ['one, and quite a long one', 'two', 'kept']) say(session, words)
    const { summarize, answer: answerNow } = held()
    const running = runCompaction(session, range(0, 1), summarize, bare)
    say(session, 'four')
    answerNow('S')
    await running
    expect(texts(session)).toEqual(['S', 'kept', 'four'])
  })

  it('makes the compaction fail where it cleared what was summarised', async () => {
    const session = fresh()
    for (const words of ['one', 'two', 'kept']) say(session, words)
    const { summarize, answer: answerNow } = held()
    const running = runCompaction(session, range(0, 1), summarize, bare)
    say(session, 'cleared', replacing([0, 1, 2]))
    answerNow('S')
    expect(await running).toMatchObject({ kind: 'failed', code: 'changed' })
    expect(texts(session)).toEqual(['cleared'])
  })
})

describe('FR-01: a fork of a compacted session', () => {
  it('derives at every cut what the parent derived there', async () => {
    await fc.assert(
      fc.asyncProperty(anyMake, fc.nat(), anyMoves, fc.nat(), async (make, at, later, cut) => {
        const parent = make()
        const ends = pickRange(parent, at)
        if (ends === undefined) return
        await runCompaction(parent, ends, short, { trigger: 'manual', measure: shrinking() })
        grow(parent, later)
        const boundary = cut % parent.length
        const child = new SessionStore().fork(parent, boundary)
        expect(deriveMessagesAt(child.events, boundary + 1)).toEqual(deriveMessagesAt(parent.events, boundary))
      }),
      runs(25),
    )
  })
})

describe('FR-02: compact, exit at once, resume', () => {
  let program: ChildProgram
  const roots: string[] = []
  beforeAll(async () => {
    const entry = fileURLToPath(new URL('./programs/compact-and-exit.ts', import.meta.url))
    program = await bundleChild(entry, ['fs-native-extensions'])
  })
  afterAll(async () => {
    await program.dispose()
    for (const root of roots) rmSync(root, { recursive: true, force: true })
  })

  /** The surface of the session that the child left behind. */
  async function left(...more: string[]): Promise<readonly number[]> {
    const root = mkdtempSync(join(tmpdir(), 'palimpsest-compact-'))
    roots.push(root)
    const child = new Child(program, [root, ...more])
    expect(await child.exit, child.errors).toEqual({ code: 0, signal: null })
    const store = jsonlPersistence({ root })
    const { stored } = await store.open(sessionId('talk'), 'write')
    await store.close()
    const session = Session.restore(stored, { vocabulary })
    expect(violations(session.deriveMessages())).toEqual([])
    return nodesOf(session)
  }

  it('the surface is compacted: success is told once the replacement is durable', async () => {
    expect(await left()).toEqual([0, 9, 6])
  })

  it('without a flush to wait for, success means the memory alone', async () => {
    expect(await left('forget')).toEqual([0, 1, 2, 3, 4, 5, 6])
  })
})

describe('SC-01: what the first compaction kept', () => {
  it('is in the input of the second', async () => {
    const session = fresh()
    for (const tag of ['u1', 'a1', 'u2', 'a2', 'u3', 'a3']) say(session, tag)
    const compactTo = async (keptFrom: string): Promise<void> => {
      const nodes = nodesOf(session)
      const end =
        nodes.findIndex((seq) => textOf((session.eventAt(seq) as SessionEvent).data as Message) === keptFrom) - 1
      const ends = range(nodes[0] ?? -1, nodes[end] ?? -1)
      await runCompaction(session, ends, gather, { trigger: 'manual', measure: shrinking(), frame: (words) => words })
    }
    await compactTo('u2')
    expect(texts(session)).toEqual(['u1 a1', 'u2', 'a2', 'u3', 'a3'])
    for (const tag of ['u4', 'a4']) say(session, tag)
    await compactTo('u4')
    expect(texts(session)).toEqual(['u1 a1 u2 a2 u3 a3', 'u4', 'a4'])
  })

  it('holds for any number of compactions of any ranges: every tag is shown, none twice', async () => {
    const rounds = fc.array(fc.tuple(fc.nat(), fc.nat({ max: 3 })), { minLength: 2, maxLength: 8 })
    await fc.assert(
      fc.asyncProperty(rounds, async (each) => {
        const session = fresh()
        const tags: string[] = []
        const tag = (): void => {
          tags.push(`t${tags.length}`)
          say(session, tags.at(-1) ?? '')
        }
        for (const [at, count] of each) {
          for (let more = 0; more <= count; more += 1) tag()
          const ends = pickRange(session, at)
          if (ends === undefined) continue
          const options = { trigger: 'manual', measure: shrinking(), frame: (words: string) => words } as const
          expect((await runCompaction(session, ends, gather, options)).kind).toBe('compacted')
        }
        expect(texts(session).join(' ').split(' ')).toEqual(tags)
      }),
      runs(50),
    )
  })
})

describe('SC-05: two compactions whose summaries say the same', () => {
  it('are told apart: each outcome names its own replacement', async () => {
    const session = fresh()
    for (const words of ['one, and quite a long one', 'two, as long as that', 'three']) say(session, words)
    const told: unknown[] = []
    for (const seq of [0, 1]) {
      const outcome = await runCompaction(session, range(seq, seq), short, bare)
      const placed = session.events.findLast(({ type }) => type === 'user/message')
      expect(outcome).toMatchObject({ kind: 'compacted', replacementSeq: placed?.seq, shadowedSeqs: [seq] })
      told.push(outcome.kind === 'compacted' ? outcome.compactionId : undefined)
    }
    expect(texts(session)).toEqual(['S', 'S', 'three'])
    expect(new Set(told).size).toBe(2)
  })
})
