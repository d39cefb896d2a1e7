import { CompactionError, runCompaction, undoCompaction } from '@palimpsest/compact'
import {
  type Message,
  type Session,
  type SessionEvent,
  SessionAcceptanceError,
  explain,
  interruptedTurnClosers,
} from '@palimpsest/session'
import { anyCommands, type Command } from '@palimpsest/testkit'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { violations } from './providers.ts'
import { anyMoves, anyMake, coding, grow, pickRange, reopened, runs, seed, shown } from './random.ts'
import { add, fresh } from './support.ts'

const pick = fc.nat({ max: 9999 })

/** Compacts a random range while others append; undefined where there was nothing to compact or it was changed. */
async function compact(session: Session, at: number, meanwhile: readonly Command[]): Promise<Undoable | undefined> {
  const range = pickRange(session, at)
  if (range === undefined) return undefined
  let calls = 0
  const outcome = await runCompaction(
    session,
    range,
    () => {
      grow(session, meanwhile)
      return { text: 'Summary' }
    },
    { trigger: 'manual', measure: () => (calls++ === 0 ? 2 : 1) },
  )
  if (outcome.kind !== 'compacted') return undefined
  const { compactionId } = outcome
  const own = session.events.filter(
    ({ seq, data }) => seq === outcome.replacementSeq || Reflect.get(data, 'compactionId') === compactionId,
  )
  return { ...outcome, startSeq: own[0]?.seq ?? -1, leftOut: new Set(own.map(({ seq }) => seq)) }
}

interface Undoable {
  readonly compactionId: string
  readonly replacementSeq: number
  readonly shadowedSeqs: readonly number[]
  readonly startSeq: number
  readonly leftOut: ReadonlySet<number>
}

/** Every seq that an event names as an event, wherever it stands; points in the log are none. */
function namedBy(event: SessionEvent): number[] {
  const named: number[] = [...((event.sourceEventSeqs ?? []) as readonly number[])]
  if (typeof event.surfaceOp === 'object') named.push(event.surfaceOp.startSeq, event.surfaceOp.endSeq)
  const { requestSeq, startSeq, endSeq, replacementSeq, shadowedSeqs } = event.data as Partial<Record<string, number>>
  for (const seq of [requestSeq, startSeq, endSeq, replacementSeq, shadowedSeqs].flat()) {
    if (seq !== undefined) named.push(seq)
  }
  return named
}

/** By event of the parent its seq in the child, counted one by one. */
function naiveMoves(parent: Session, { startSeq, leftOut }: Undoable): Map<number, number> {
  const moves = new Map<number, number>()
  let next = startSeq + 1
  for (const { seq } of parent.events) {
    if (seq < startSeq) moves.set(seq, seq)
    else if (!leftOut.has(seq)) moves.set(seq, next++)
  }
  return moves
}

/** A value without any `copiedFrom` member on its top level or on that of its message. */
function bare(message: Message | object): object {
  const { copiedFrom: _, ...rest } = message as { copiedFrom?: unknown }
  return rest
}

const offenders = (parent: Session, { startSeq, leftOut }: Undoable): SessionEvent[] =>
  parent.events.filter(
    (event) => event.seq > startSeq && !leftOut.has(event.seq) && namedBy(event).some((seq) => leftOut.has(seq)),
  )

function expectUndone(parent: Session, done: Undoable, child: Session): void {
  const moves = naiveMoves(parent, done)
  const expanded = shown(parent).flatMap((seq) => (seq === done.replacementSeq ? done.shadowedSeqs : [seq]))
  const closers = interruptedTurnClosers(parent.events)
  const own = shown(child).filter((seq) => seq < child.length - closers.length)
  expect(own).toEqual(expanded.map((seq) => moves.get(seq)))
  for (const event of parent.events) {
    const copy = child.eventAt(moves.get(event.seq) ?? -1)
    if (copy === undefined) continue
    expect([copy.type, copy.time]).toEqual([event.type, event.time])
    if (event.seq < done.startSeq) expect(copy).toBe(event)
    expect(namedBy(copy)).toEqual(namedBy(event).map((seq) => moves.get(seq) ?? seq))
  }
  const derived = child.deriveMessages().slice(0, child.deriveMessages().length - closingMessages(closers))
  const messages = expanded.flatMap((seq) => {
    const event = parent.events[seq] as SessionEvent
    const message = event.type === 'user/message' ? event.data : (event.data as { message: Message }).message
    return message.content.length === 0 && event.type !== 'user/message' ? [] : [bare(message)]
  })
  expect(derived.map(bare)).toEqual(messages)
  expect(violations(child.deriveMessages())).toEqual([])
  expect(reopened(child).events).toEqual(child.events)
}

const closingMessages = (closers: readonly SessionEvent[]): number =>
  closers.filter(({ type }) => type === 'tool/result').length

/** One test per law. `share` 1 is for every change; more is for long runs. */
export function describeUndoLaws(share: number): void {
  const few = (count: number): ReturnType<typeof runs> => runs(count * share)
  describe(`laws of undo, seed ${seed}`, () => {
    it('the child shows the covered entries and every later turn, or a later event is named that hinders it', async () => {
      const met = { undone: 0, refused: 0 }
      await fc.assert(
        fc.asyncProperty(anyMake, pick, anyMoves, anyMoves, async (make, at, meanwhile, later) => {
          const parent = make()
          const done = await compact(parent, at, meanwhile.slice(0, 4))
          if (done === undefined) return
          grow(parent, later)
          const before = parent.events
          const [offender] = offenders(parent, done)
          if (offender === undefined) {
            expectUndone(parent, done, undoCompaction(parent, done.compactionId))
            met.undone += 1
          } else {
            met.refused += 1
            expect(codeOf(() => undoCompaction(parent, done.replacementSeq))).toContain(
              `undo/cited: event ${offender.seq} `,
            )
          }
          expect(parent.events).toBe(before)
        }),
        few(24),
      )
      expect(met.undone).toBeGreaterThan(0)
      // A few runs may meet none by chance.
      if (share > 1) expect(met.refused).toBeGreaterThan(0)
    })

    it('keeps the requests, rewrites and summaries of a coding session that went on', async () => {
      const sizes = fc.record({
        seed: fc.nat(),
        events: fc.integer({ min: 60, max: 200 }),
        replacementRate: fc.constant(0.1),
      })
      await fc.assert(
        fc.asyncProperty(sizes, pick, async (of, at) => {
          const whole = coding(of)
          const parent = fresh({ id: 'coding', seed: whole.events.slice(0, of.events >> 1) })
          const done = await compact(parent, at, [])
          if (done === undefined) return
          // The rest of the session, as if the summary had never been: only what does not touch the range.
          continueWith(parent, whole.events.slice(of.events >> 1))
          if (offenders(parent, done).length > 0) return
          expectUndone(parent, done, undoCompaction(parent, done.compactionId))
        }),
        few(12),
      )
    })

    it('undoing every compaction, last first, shows every appended event again', async () => {
      let depth = 0
      await fc.assert(
        fc.asyncProperty(
          anyCommands,
          fc.array(fc.tuple(pick, anyMoves), { minLength: 2, maxLength: 4 }),
          async (commands, rounds) => {
            const only = (each: readonly Command[]): Command[] =>
              each.filter((one) => one.kind === 'append' && !['summary', 'prune', 'head'].includes(one.step.what))
            let session = fresh({ id: 'first' })
            grow(session, only(commands))
            const ids: string[] = []
            for (const [at, moves] of rounds) {
              const done = await compact(session, at, only(moves.slice(0, 3)))
              if (done !== undefined) ids.push(done.compactionId)
              grow(session, only(moves))
            }
            const origins = shown(session).flatMap((seq) => explain(session.events, seq).origins)
            const texts = origins.map((seq) => contentOf(session.events[seq]))
            for (const id of ids.toReversed()) session = undoCompaction(session, id)
            const again = shown(session).map((seq) => contentOf(session.events[seq]))
            expect(again.slice(0, texts.length)).toEqual(texts)
            depth = Math.max(depth, ids.length)
          },
        ),
        few(12),
      )
      expect(depth).toBeGreaterThan(0)
    })
  })
}

function codeOf(run: () => unknown): string {
  try {
    run()
  } catch (error) {
    if (error instanceof CompactionError) return error.message
    throw error
  }
  return 'nothing was refused'
}

const contentOf = (event: SessionEvent | undefined): unknown => {
  const data = event?.data as Message & { message?: Message }
  return (data.message ?? data).content
}

/** Appends the rest of another log here; left out is what does not fit, and what names something left out. */
function continueWith(session: Session, events: readonly SessionEvent[]): void {
  const moves = new Map<number, number>()
  const moved = (seq: number): number => {
    const to = seq < session.firstLiveSeq ? seq : moves.get(seq)
    if (to === undefined) throw new Unfit()
    return to
  }
  for (const { type, seq, data, surfaceOp, sourceEventSeqs } of events) {
    const { requestSeq } = data as { requestSeq?: number }
    try {
      const op =
        typeof surfaceOp === 'object'
          ? { ...surfaceOp, startSeq: moved(surfaceOp.startSeq), endSeq: moved(surfaceOp.endSeq) }
          : surfaceOp
      const sources = sourceEventSeqs === undefined ? {} : { sourceEventSeqs: sourceEventSeqs.map(moved) }
      const request = requestSeq === undefined ? {} : { requestSeq: moved(requestSeq) }
      const intent = op === undefined ? undefined : { surfaceOp: op, ...sources }
      moves.set(seq, add(session, type, { ...data, ...request }, intent).seq)
    } catch (error) {
      if (!(error instanceof Unfit || error instanceof SessionAcceptanceError)) throw error
    }
  }
}

class Unfit extends Error {}
