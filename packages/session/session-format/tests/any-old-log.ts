import type { Json, JsonObject } from '@palimpsest/session'
import fc from 'fast-check'
import { OldLog, type StreamedBlock, resultMessage, streamed, streamedCall, userMessage } from './fixtures.ts'

interface AnyStep {
  /** Attempts before the answer, each with what it ends on; undefined where the stream just stops. */
  readonly failures: readonly (Json | undefined)[]
  readonly blocks: readonly StreamedBlock[]
  readonly calls: number
  readonly interrupts: boolean
  /** The system prompt of a `request/header`, empty for none; undefined where the header is not written again. */
  readonly prompt: string | undefined
}

interface AnyTurn {
  readonly steps: readonly AnyStep[]
  readonly isNamed: boolean
  readonly ending: 'nothing' | 'title' | 'compact' | 'prune' | 'resume'
  /** 0 to 1, the share of the surface that a compaction leaves before its range. */
  readonly share: number
}

export interface AnyScript {
  readonly turns: readonly AnyTurn[]
  /** The turn whose end is the end of the inherited history, and whether the log marks it. */
  readonly fork: { readonly turn: number; readonly isMarked: boolean } | undefined
}

const parts = fc.array(fc.string({ unit: 'grapheme', maxLength: 6 }), { minLength: 1, maxLength: 4 })
const blocks = fc.array(
  fc
    .tuple(fc.constantFrom<('text' | 'reasoning')[]>('text', 'reasoning'), parts)
    .map(([type, text]) => streamed(type, text)),
  { maxLength: 2 },
)
const step: fc.Arbitrary<AnyStep> = fc.record({
  failures: fc.array(fc.constantFrom(undefined, { kind: 'stop' }, { kind: 'error', failure: { code: 'LATER' } }), {
    maxLength: 2,
  }),
  blocks,
  calls: fc.nat({ max: 2 }),
  interrupts: fc.boolean(),
  prompt: fc.constantFrom(undefined, undefined, '', 'be brief', 'be kind'),
})
const turn: fc.Arbitrary<AnyTurn> = fc.record({
  steps: fc.array(step, { maxLength: 3 }),
  isNamed: fc.boolean(),
  ending: fc.constantFrom('nothing', 'title', 'compact', 'prune', 'resume'),
  share: fc.double({ min: 0, max: 1, noNaN: true, maxExcluded: true }),
})
const script: fc.Arbitrary<AnyScript> = fc.record({
  turns: fc.array(turn, { minLength: 1, maxLength: 5 }),
  fork: fc.option(fc.record({ turn: fc.nat({ max: 4 }), isMarked: fc.boolean() }), { nil: undefined }),
})

/** Whole logs of version 0, with all that moves in a migration: attempts, replacements, titles, forks, prompts. */
export const anyOldLog: fc.Arbitrary<OldLog> = script.map((chosen) => {
  const { fork } = chosen
  if (fork === undefined) return new Writer({}).write(chosen)
  const { cuts } = new Writer({}).run(chosen)
  return new Writer({ parentSession: 'parent', seedLength: cuts[fork.turn] ?? 0 }).write(chosen)
})

class Writer {
  readonly log: OldLog
  /** Per turn, the number of events up to its end. */
  readonly cuts: number[] = []
  /** The surface, a turn or a summary each. */
  readonly #groups: number[][] = []
  readonly #results: { readonly seq: number; readonly data: JsonObject }[] = []

  constructor(header: Readonly<Record<string, Json>>) {
    this.log = new OldLog(header)
  }

  write(script: AnyScript): OldLog {
    return this.run(script).log
  }

  run({ turns, fork }: AnyScript): this {
    for (const [at, each] of turns.entries()) {
      this.#turn(each)
      this.cuts.push(this.log.events.length)
      if (fork?.turn === at && fork.isMarked) this.log.add('session/end-seed', {})
    }
    return this
  }

  #turn({ steps, isNamed, ending, share }: AnyTurn): void {
    const { log } = this
    log.startTurn()
    const id = isNamed ? `u${log.events.length}` : undefined
    const group = [log.append('user/message', userMessage(id, `turn ${log.turn}`))]
    for (const each of steps) group.push(...this.#step(each))
    log.endTurn()
    this.#groups.push(group)
    const first = Math.floor(share * this.#groups.length)
    if (ending === 'title') log.add('session/title', { title: 't', messageSeqs: this.#groups.map(([seq]) => seq ?? 0) })
    if (ending === 'compact') this.#compact(first)
    if (ending === 'prune') this.#prune(first)
    if (ending === 'resume') log.add('session/end-seed', {})
  }

  #step({ failures, blocks, calls, interrupts, prompt }: AnyStep): number[] {
    const { log } = this
    log.startStep()
    if (prompt !== undefined) {
      const header = {
        config: { provider: 'acme', model: 'm-1' },
        ...(prompt === '' ? {} : { system: prompt }),
        tools: [],
      }
      log.add('request/header', { header, reason: 'change' })
    }
    for (const [attempt, finish] of failures.entries()) {
      log.stream(blocks, finish)
      log.add('llm/retry', { attempt })
    }
    const ids = Array.from({ length: calls }, (_, at) => `call-${log.events.length}-${at}`)
    const whole = [...blocks, ...ids.map((id) => streamedCall(id, ['{', '}']))]
    const group = [log.answer(whole, () => interrupts && log.add('agent/inbox/spliced', { target: 'next-turn' }))]
    for (const id of ids) {
      const seq = log.callAndResult(id, `answer to ${id}`)
      this.#results.push({ seq, data: log.events[seq]?.['data'] as JsonObject })
      group.push(seq)
    }
    log.endStep()
    return group
  }

  /** One summary for all entries from a group on. */
  #compact(from: number): void {
    const { log } = this
    const shadowed = this.#groups.slice(from).flat()
    const [start = 0, end = 0] = [shadowed[0], shadowed.at(-1)]
    const compactionId = `c${log.events.length}`
    const opened = log.add('compaction/start', { compactionId, turn: log.turn })
    const summary = log.add('compaction/summary', {
      compactionId,
      summary: [{ type: 'text', text: 'so far' }],
      rawOutput: [{ type: 'text', text: 'so far' }],
      llmStreamCall: true,
      shadowedRange: { start, end },
      shadowedSeqs: shadowed,
      shadowedTokenCount: 9,
      provider: 'acme',
      model: 'm-1',
    })
    const message = { ...userMessage(`s${log.events.length}`, 'so far'), source: { kind: 'plugin', plugin: 'compact' } }
    const surfaceOp = { op: 'replace', start, end }
    const seq = log.add('user/message', message, { surfaceOp, sourceEventSeqs: [opened, summary, ...shadowed] })
    log.add('compaction/end', { compactionId, turn: log.turn })
    this.#groups.splice(from, this.#groups.length, [seq])
  }

  /** Cuts the first result that is on the surface from a group on. */
  #prune(from: number): void {
    const { log } = this
    const group = this.#groups.slice(from).find((seqs) => this.#results.some(({ seq }) => seqs.includes(seq)))
    const found = this.#results.find(({ seq }) => group?.includes(seq))
    if (group === undefined || found === undefined) return
    const { seq: pruned, data } = found
    const old = data['message'] as JsonObject
    const callId = (old['source'] as JsonObject)['callId'] as string
    const message = resultMessage(old['id'] as string, callId, 'cut')
    log.add('compaction/prune', { shadowedRange: { start: pruned, end: pruned }, shadowedSeqs: [pruned] })
    const seq = log.add(
      'tool/result',
      { ...data, message },
      { surfaceOp: { op: 'replace', start: pruned, end: pruned }, sourceEventSeqs: [pruned] },
    )
    group.splice(group.indexOf(pruned), 1, seq)
    this.#results.splice(this.#results.indexOf(found), 1, { seq, data: { ...data, message } })
  }
}
