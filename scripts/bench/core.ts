/** Rows 1 to 3 of SPEC 10, in one process. Started by `main.ts`, which bundles it. Prints its comparisons as JSON. */
import { foldSurface } from '../../packages/core/session/src/fold.ts'
import type { Comparison } from './figures.ts'
import { interleave, Stopwatch } from './measure.ts'
import { loadPeer, type PeerModule, type PeerSession } from './peer.ts'
import { type Appender, codingLogs, codingSteps, newSession, type Step } from './workload.ts'

/** How much work a run does. */
interface Scale {
  readonly rounds: number
  readonly appended: number
  readonly folded: number
  readonly entries: number
  /** Derivations that one sample is the mean of: after appends, after replacements. */
  readonly derivations: readonly [number, number]
}

const full: Scale = { rounds: 9, appended: 20_000, folded: 1_000_000, entries: 100_000, derivations: [200, 10] }
const quick: Scale = { rounds: 2, appended: 2000, folded: 20_000, entries: 2000, derivations: [10, 5] }

const against = '@deepseek-ai/dsh-session'
const count = (value: number): string => value.toLocaleString('en-US')

function append(peer: PeerModule, scale: Scale): Comparison {
  const steps = [...codingSteps(scale.appended)]
  // Hidden classes die with their last object, and compiled code with them: a process that holds sessions keeps both.
  const held: unknown[] = []
  const ours = (): Stopwatch['sample'] => {
    const session = newSession()
    if (held.length < 2) held.push(session)
    const watch = new Stopwatch()
    watch.time(() => {
      for (const { step } of steps) session.append(step.type, step.data, step.intent)
    })
    return watch.sample
  }
  const theirs = (): Stopwatch['sample'] => {
    const session = peer.Session.create('bench')
    if (held.length < 2) held.push(session)
    const watch = new Stopwatch()
    watch.time(() => {
      for (const { step, placement } of steps) session.append(step.type, step.data, placement)
    })
    return watch.sample
  }
  const rounds = interleave(scale.rounds, ours, theirs)
  if (held.length !== 2) throw new Error('a session of each side is held while the other is measured')
  return {
    name: 'append, every rule on',
    work: `${count(steps.length)} events of a tool-heavy coding session, 1% replacements`,
    units: steps.length,
    against,
    bar: { kind: 'faster', times: 3 },
    rounds,
  }
}

function fold(peer: PeerModule, scale: Scale): Comparison {
  const logs = codingLogs(scale.folded)
  const timed = (task: () => unknown) => (): Stopwatch['sample'] => {
    const watch = new Stopwatch()
    watch.time(task)
    return watch.sample
  }
  return {
    name: 'foldSurface',
    work: `${count(logs.ours.length)} events, 1% replacements`,
    units: logs.ours.length,
    against,
    bar: { kind: 'faster', times: 1.5 },
    rounds: interleave(
      scale.rounds,
      timed(() => foldSurface(logs.ours)),
      timed(() => peer.foldSurface(logs.theirs)),
    ),
  }
}

/** Both sessions with `entries` surface entries or a few more, at the end of a turn. */
function sessionsOf(peer: PeerModule, entries: number): { ours: Appender; theirs: PeerSession } {
  const ours = newSession()
  const theirs = peer.Session.create('bench')
  for (const { step, placement } of codingSteps(Infinity)) {
    ours.append(step.type, step.data, step.intent)
    theirs.append(step.type, step.data, placement)
    if (step.type === 'turn/end' && ours.surface.nodes.length >= entries) break
  }
  return { ours, theirs }
}

/** What comes before each timed derivation. */
function steer(at: number, replaced?: number): Step {
  const data = { id: `bench-${at}`, role: 'user', content: [{ type: 'text', text: 'go on' }], source: { kind: 'user' } }
  const sources = replaced === undefined ? undefined : { sourceEventSeqs: [replaced] }
  const ends =
    replaced === undefined ? undefined : { start: replaced, end: replaced, startSeq: replaced, endSeq: replaced }
  const surfaceOp = ends === undefined ? 'append' : { op: 'replace', startSeq: ends.startSeq, endSeq: ends.endSeq }
  const peerOp = ends === undefined ? 'append' : { op: 'replace', start: ends.start, end: ends.end }
  return {
    step: { type: 'user/message', data, intent: { surfaceOp, ...sources } },
    placement: { surfaceOp: peerOp, ...sources },
  } as unknown as Step
}

function derive(peer: PeerModule, scale: Scale): Comparison[] {
  const { ours, theirs } = sessionsOf(peer, scale.entries)
  const [afterAppend, afterReplacement] = scale.derivations
  const entries = ours.surface.nodes.length
  ours.deriveMessages()
  theirs.deriveMessages()
  const timed =
    (side: Appender | PeerSession, isReplacement: boolean, derivations: number) => (): Stopwatch['sample'] => {
      const watch = new Stopwatch()
      for (let at = 0; at < derivations; at += 1) {
        const { step, placement } = steer(at, isReplacement ? side.surface.nodes.at(-1) : undefined)
        if (side === ours) ours.append(step.type, step.data, step.intent)
        else theirs.append(step.type, step.data, placement)
        watch.time(() => side.deriveMessages())
      }
      const { wall, cpu } = watch.sample
      return { wall: wall / derivations, cpu: cpu / derivations }
    }
  const row = (what: string, isReplacement: boolean, derivations: number, times: number): Comparison => ({
    name: `deriveMessages after ${what}`,
    work: `${count(entries)} surface entries, mean of ${derivations}`,
    against,
    bar: { kind: 'share', times },
    rounds: interleave(
      scale.rounds,
      timed(ours, isReplacement, derivations),
      timed(theirs, isReplacement, derivations),
    ),
  })
  return [row('an append', false, afterAppend, 1), row('a replacement', true, afterReplacement, 0.5)]
}

const [module, pace, only] = process.argv.slice(2)
if (module === undefined) throw new Error('main.ts starts this program with the module of the peer')
const peer = await loadPeer(module)
const scale = pace === 'quick' ? quick : full
const rows: Record<string, () => Comparison[]> = {
  append: () => [append(peer, scale)],
  fold: () => [fold(peer, scale)],
  derive: () => derive(peer, scale),
}
for (const [name, measure] of Object.entries(rows)) {
  if (only !== undefined && only !== name) continue
  for (const comparison of measure()) console.log(JSON.stringify(comparison))
}
