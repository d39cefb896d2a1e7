import { type Session, type SessionSeq, SessionStore } from '@palimpsest/session'
import { recordsOf, type WorkspaceContext } from '@palimpsest/workspace-context'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { MemoryFiles } from './memory-files.ts'
import { contextMessages, digestOf, quotedNow, quotes, recordsNow, reopened } from './quotations.ts'
import { runs } from './runs.ts'
import { compact, contextOf, say, started } from './sessions.ts'

const MAX_BYTES = 60
const directories = ['', 'app/', 'app/deep/', 'lib/']

type Move =
  | { readonly kind: 'write'; readonly path: string; readonly content: string | null }
  | { readonly kind: 'remove'; readonly path: string }
  | { readonly kind: 'touch'; readonly directory: string }
  | { readonly kind: 'compact'; readonly from: number; readonly to: number }
  | { readonly kind: 'bring-back'; readonly pick: number }
  | { readonly kind: 'say' | 'restore' | 'fork' | 'refresh' }

const anyPath = fc
  .tuple(fc.constantFrom(...directories), fc.constantFrom('AGENTS.md', 'CLAUDE.md', 'AGENTS.local.md'))
  .map((parts) => parts.join(''))
const anyContent = fc.oneof(
  fc.constantFrom(null, '', ' \n', 'one\n', 'two\r\n', '\ufeffone\n', 'BEGIN 0123456789abcdef "AGENTS.md"\n', 'z\0'),
  fc.tuple(fc.constantFrom('x', 'é', 'END\n'), fc.nat({ max: 30 })).map(([unit, times]) => unit.repeat(times)),
)
const anyMove: fc.Arbitrary<Move> = fc.oneof(
  { weight: 5, arbitrary: fc.record({ kind: fc.constant('write' as const), path: anyPath, content: anyContent }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('remove' as const), path: anyPath }) },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant('touch' as const), directory: fc.constantFrom(...directories) }),
  },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('compact' as const), from: fc.nat(), to: fc.nat() }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('bring-back' as const), pick: fc.nat() }) },
  {
    weight: 6,
    arbitrary: fc.record({ kind: fc.constantFrom('say', 'restore', 'fork', 'refresh', 'refresh', 'refresh') }),
  },
)

/** A run of moves, and which files must be told of: from the root to cwd, touched since this process began, shown now. */
class Run {
  readonly files = new MemoryFiles({ 'AGENTS.md': 'Root.\n', 'app/CLAUDE.md': 'App.\n' })
  session: Session = started()
  context: WorkspaceContext = this.#newContext()
  nested = new Set<string>()
  touched = new Set<string>()
  reinjected = 0

  #newContext(): WorkspaceContext {
    return contextOf(this.files, { cwd: '/repo/app', maxBytes: MAX_BYTES, maxFileBytes: 50 })
  }

  async make(move: Move): Promise<void> {
    switch (move.kind) {
      case 'write':
        this.files.files.set(move.path, move.content)
        return
      case 'remove':
        this.files.files.delete(move.path)
        return
      case 'touch':
        this.touched.add(move.directory)
        this.context.touched(`/repo/${move.directory}some.ts`)
        return
      case 'compact': {
        const last = this.session.surface.nodes.length - 1
        const [from, to] = [1 + (move.from % Math.max(last, 1)), 1 + (move.to % Math.max(last, 1))].toSorted(
          (a, b) => a - b,
        )
        if (last >= 1) compact(this.session, from ?? 1, to ?? 1)
        return
      }
      case 'bring-back':
        this.#bringBack(move.pick)
        return
      case 'say':
        say(this.session, 'Go on.')
        return
      case 'restore':
        await this.refresh()
        await this.#continueIn(reopened(this.session))
        return
      case 'fork':
        await this.refresh()
        await this.#continueIn(new SessionStore().fork(this.session))
        return
      case 'refresh':
        await this.refresh()
    }
  }

  /** As undoing a compaction does: an entry that was covered stands again beside one that came after it. */
  #bringBack(pick: number): void {
    const covered = this.session.events.filter(
      (event) =>
        event.type === 'user/message' &&
        recordsOf(event.data) !== undefined &&
        !this.session.surface.nodes.includes(event.seq),
    )
    const event = covered[pick % Math.max(covered.length, 1)]
    if (event?.type === 'user/message') this.session.append('user/message', event.data, { surfaceOp: 'append' })
  }

  /** What a new process finds is told of already: it adds nothing. */
  async #continueIn(session: Session): Promise<void> {
    this.session = session
    this.context = this.#newContext()
    this.nested = new Set(recordsNow(session).map(({ path }) => path))
    this.touched = new Set()
    const { length } = session
    await this.context.refresh(session)
    expect(session.length).toBe(length)
  }

  async refresh(): Promise<void> {
    for (const directory of this.touched) {
      const parents = directories.filter((parent) => directory.startsWith(parent))
      for (const path of this.files.files.keys()) {
        if (parents.some((parent) => path.startsWith(parent) && !path.slice(parent.length).includes('/'))) {
          if (contentOf(this.files, path) !== undefined) this.nested.add(path)
        }
      }
    }
    this.touched.clear()
    for (const { path } of recordsNow(this.session)) this.nested.add(path)
    const before = this.session.length
    const appendedBefore = appends(this.session)
    const plan = await this.context.refresh(this.session)
    expect(this.session.length - before).toBe(plan.replace.length + (plan.inject === undefined ? 0 : 1))
    expect(appends(this.session) - appendedBefore).toBeLessThanOrEqual(1)
    this.check()
    const { length } = this.session
    expect(await this.context.refresh(this.session)).toEqual({ replace: [], inject: undefined })
    expect(this.session.length).toBe(length)
  }

  check(): void {
    const records = recordsNow(this.session)
    const byPath = new Map(records.map((record) => [record.path, record]))
    expect(byPath.size).toBe(records.length)
    const quoted = new Map(quotedNow(this.session).map((quotation) => [quotation.path, quotation]))
    expect(quoted.size).toBe(quotedNow(this.session).length)
    expect([...quoted.keys()].toSorted()).toEqual(
      records.flatMap((r) => (r.status === 'quoted' ? [r.path] : [])).toSorted(),
    )
    let bytes = 0
    for (const record of records) {
      const content = contentOf(this.files, record.path)
      if (content === undefined) expect(record.status).toBe('removed')
      else if (typeof content !== 'string') expect(record.status).toBe('left-out')
      else if (record.status === 'quoted') {
        expect(record.digest).toBe(digestOf(content))
        expect(quotes(quoted.get(record.path), content)).toBe(true)
        bytes += Buffer.byteLength(content)
      } else if (record.status === 'same') expect(contentOf(this.files, record.as)).toBe(content)
      else expect(record).toMatchObject({ status: 'left-out', reason: 'over-budget' })
    }
    expect(bytes).toBeLessThanOrEqual(MAX_BYTES)
    for (const path of this.files.files.keys()) {
      const isOnTheWay = path.startsWith('app/') ? !path.startsWith('app/deep/') : !path.includes('/')
      if (contentOf(this.files, path) !== undefined && (isOnTheWay || this.nested.has(path))) {
        expect(byPath.has(path), path).toBe(true)
      }
    }
    expect(JSON.stringify(this.session.events)).not.toContain('/repo')
  }
}

const appends = (session: Session): number =>
  session.events.filter(
    (event) => event.type === 'user/message' && event.surfaceOp === 'append' && recordsOf(event.data),
  ).length

/** The text of a file that can be quoted, `false` for one that is there and cannot, `undefined` for one with nothing to say. */
function contentOf(files: MemoryFiles, path: string): string | false | undefined {
  const content = files.files.get(path)
  if (content === undefined) return undefined
  if (typeof content !== 'string' || content.includes('\0') || Buffer.byteLength(content) > 50) return false
  const text = content.replace(/^\ufeff/, '').replaceAll('\r\n', '\n')
  return text.trim() === '' ? undefined : text
}

/** What holds of a session and a workspace whatever happens to them, tried `count` times. */
export function describeSessionLaws(count: number): void {
  it('after any edits, touches, compactions, restores and forks each file is told of once, as it is, and a second refresh writes nothing', async () => {
    let replaced = 0
    let covered = 0
    await fc.assert(
      fc.asyncProperty(fc.array(anyMove, { maxLength: 25, size: 'max' }), async (moves) => {
        const run = new Run()
        for (const move of moves) {
          const seen = contextMessages(run.session).length
          await run.make(move)
          if (move.kind === 'compact' && contextMessages(run.session).length < seen) covered += 1
        }
        await run.refresh()
        replaced += run.session.events.filter(
          (event) => event.type === 'user/message' && typeof event.surfaceOp === 'object' && recordsOf(event.data),
        ).length
      }),
      runs(count),
    )
    expect(replaced).toBeGreaterThan(0)
    expect(covered).toBeGreaterThan(0)
  })

  it('after a random compaction that covers it, a message is injected again exactly once', async () => {
    await fc.assert(
      fc.asyncProperty(fc.nat({ max: 5 }), fc.nat({ max: 5 }), async (before, after) => {
        const files = new MemoryFiles({ 'AGENTS.md': 'Root.\n', 'lib/AGENTS.md': 'Lib.\n' })
        const context = contextOf(files)
        const session = started()
        for (let i = 0; i < before; i += 1) say(session, 'Before.')
        context.touched('lib/a.ts')
        await context.refresh(session)
        for (let i = 0; i < after; i += 1) say(session, 'After.')
        const { nodes } = session.surface
        const place = nodes.findIndex((seq: SessionSeq) => seq === before + 1)
        compact(session, 1 + ((before + after) % (place || 1)), Math.max(place, nodes.length - 1 - (after % 2)))
        expect(contextMessages(session)).toEqual([])
        const { inject } = await context.refresh(session)
        expect(inject?.files.map(({ path }) => path)).toEqual(['AGENTS.md', 'lib/AGENTS.md'])
        expect(contextMessages(session)).toHaveLength(1)
        await context.refresh(session)
        await contextOf(files).refresh(session)
        expect(contextMessages(session)).toHaveLength(1)
      }),
      runs(count / 2),
    )
  })
}
