import {
  deriveEventMessage,
  deriveMessagesAt,
  foldSurface,
  interruptedTurnClosers,
  Session,
  SessionStore,
  surfaceAt,
} from '@palimpsest/session'
import type { Message, SessionEvent } from '@palimpsest/session'
import {
  describeClosers,
  referenceClosers,
  ReferenceSession,
  referenceVerdict,
  transcriptProblems,
  type Command,
} from '@palimpsest/testkit'
import { inheritedEventCount, type Observer, readEverything, reread, Run } from './driver.ts'

/** Runs one sequence of commands and throws when the law does not hold. Returns the run, for what it met. */
export type Law = (commands: readonly Command[]) => Run

function hold(condition: boolean, message: string | (() => string)): void {
  if (!condition) throw new Error(typeof message === 'string' ? message : message())
}

/** Same length and the very same members. */
function sameList(actual: readonly unknown[], expected: readonly unknown[], what: string): void {
  const same = actual.length === expected.length && actual.every((member, at) => Object.is(member, expected[at]))
  hold(same, () => `${what}: expected ${JSON.stringify(expected)}, got ${JSON.stringify(actual)}`)
}

function sameText(actual: unknown, expected: unknown, what: string): void {
  const [one, other] = [JSON.stringify(actual), JSON.stringify(expected)]
  hold(one === other, () => `${what}: expected ${other}, got ${one}`)
}

/** A law that watches one run. */
const watching =
  (observe: () => Observer): Law =>
  (commands) =>
    new Run(observe()).execute(commands)

const judge: NonNullable<Observer['judged']> = ({ reference }, candidate, code) => {
  const verdict = referenceVerdict(reference, candidate)
  const agrees = code === undefined ? verdict.size === 0 : verdict.has(code)
  hold(agrees, () => {
    const expected = verdict.size === 0 ? 'accepted' : [...verdict].join(' or ')
    return `${candidate.type} ${JSON.stringify(candidate.intent)} was ${code ?? 'accepted'}, expected ${expected}`
  })
}

const acceptance: Law = watching(() => ({
  judged: judge,
  accepted({ session, reference }, event) {
    hold(Object.isFrozen(event) && Object.isFrozen(event.data), 'an accepted event is frozen')
    hold(event.seq === reference.log.length - 1 && session.length === reference.log.length, 'seqs are contiguous')
    hold(session.eventAt(event.seq) === event && session.events.at(-1) === event, 'the log ends with the event')
  },
}))

const incremental: Law = watching(() => {
  const check = ({ session, reference }: Run): void => {
    sameList(session.surface.nodes, reference.surface(), 'live surface')
    hold(session.surface.replaceGeneration === reference.replaceGeneration(), 'the generation counts the replacements')
  }
  return {
    accepted: check,
    forked: check,
    restored: check,
    end({ session, reference }) {
      for (let count = 0; count <= session.length; count++) {
        const prefix = reference.prefix(count)
        const events = session.events.slice(0, count)
        const { nodes, replacements } = foldSurface(events)
        sameList(nodes, prefix.surface(), `fold of ${String(count)} events`)
        sameList(surfaceAt(session.events, count - 1), nodes, `surface at ${String(count - 1)}`)
        sameList(
          replacements.map(({ seq }) => seq),
          prefix.replacements().map(({ seq }) => seq),
          'replacements',
        )
        const last = replacements.at(-1)
        if (last !== undefined) sameList(last.shadowedSeqs, prefix.shadows(last.seq), `shadows of ${String(last.seq)}`)
      }
    },
  }
})

/** Everything a caller can see, copied. */
function picture(session: Session) {
  const { events, length } = session
  const { nodes, replaceGeneration } = session.surface
  const derived = session.deriveMessages()
  return { events, length, nodes: [...nodes], replaceGeneration, derived, messages: [...derived] }
}

function samePicture(session: Session, before: ReturnType<typeof picture>): void {
  const now = picture(session)
  hold(now.events === before.events && now.length === before.length, 'the log is as it was')
  hold(now.derived === before.derived, 'the derived list is the same array')
  hold(now.replaceGeneration === before.replaceGeneration, 'the generation is as it was')
  sameList(now.nodes, before.nodes, 'surface')
  sameList(now.messages, before.messages, 'derived messages')
}

const refusalChangesNothing: Law = watching(() => {
  let before: ReturnType<typeof picture>
  return {
    before({ session }) {
      before = picture(session)
    },
    refused({ session }) {
      samePicture(session, before)
    },
    // What is not public, the pairing state above all, shows in what is accepted afterwards.
    judged: judge,
  }
})

const readsDoNotDrift: Law = (commands) => {
  let held: ReturnType<typeof picture> & { readonly log: readonly SessionEvent[]; readonly view: readonly unknown[] }
  const noisy = new Run({
    before({ session }) {
      const seen = picture(session)
      held = { ...seen, log: [...seen.events], view: session.surface.nodes }
    },
    refused({ session }) {
      sameList(held.events, held.log, 'events read before the refusal')
      sameList(held.derived, held.messages, 'messages read before the refusal')
      sameList(held.view, held.nodes, 'surface read before the refusal')
      samePicture(session, held)
    },
    accepted({ session }) {
      sameList(held.events, held.log, 'events read before the append')
      sameList(held.derived, held.messages, 'messages read before the append')
      readEverything(session)
    },
  }).execute(commands)
  const quiet = new Run({}).execute(commands.filter(({ kind }) => kind !== 'read'))
  sameList(noisy.outcomes, quiet.outcomes, 'outcomes with and without reads')
  sameText(noisy.session.deriveMessages(), quiet.session.deriveMessages(), 'messages with and without reads')
  sameList(noisy.session.surface.nodes, quiet.session.surface.nodes, 'surface with and without reads')
  return noisy
}

const deriveIsTheWalk: Law = watching(() => {
  const check = ({ session, reference }: Run): void => {
    const walk = session.surface.nodes
      .map((seq) => deriveEventMessage(session.eventAt(seq) as SessionEvent))
      .filter((message) => message !== null)
    const derived = session.deriveMessages()
    sameList(derived, walk, 'derived list and walk of the surface')
    sameList(derived, reference.derived(), 'derived list and reference')
    hold(session.deriveMessages() === derived, 'one array until the surface changes')
  }
  return {
    accepted: check,
    refused: check,
    forked: check,
    restored: check,
    end({ session, reference }) {
      for (let seq = -1; seq < session.length; seq++) {
        sameList(
          deriveMessagesAt(session.events, seq),
          reference.prefix(seq + 1).derived(),
          `derived at ${String(seq)}`,
        )
      }
    },
  }
})

function restoreEvents(session: Session, events: readonly SessionEvent[]): Session {
  return Session.restore({ header: session.header, events, inheritedEventCount: inheritedEventCount(events) })
}

const prefixPlusClosers: Law = watching(() => ({
  end({ session, reference }) {
    for (let count = 0; count <= session.length; count++) {
      const events = session.events.slice(0, count)
      const closers = interruptedTurnClosers(events)
      sameText(
        describeClosers(closers),
        referenceClosers(reference.prefix(count)),
        `closers of ${String(count)} events`,
      )
      const repaired = restoreEvents(session, [...events, ...closers])
      const problems = transcriptProblems(repaired.deriveMessages())
      hold(problems.length === 0, () => `after ${String(count)} events: ${problems.join('; ')}`)
    }
  },
}))

const closersAreIdempotent: Law = watching(() => ({
  end({ session }) {
    for (let count = 0; count <= session.length; count++) {
      const events = session.events.slice(0, count)
      const closers = interruptedTurnClosers(events)
      sameText(interruptedTurnClosers(events), closers, 'closers asked for twice')
      sameText(
        interruptedTurnClosers([...events, ...closers]),
        [],
        `closers of ${String(count)} events and their closers`,
      )
    }
  },
}))

const restoreDerivesTheSame: Law = watching(() => {
  const check = (session: Session, original: Session): void => {
    const bytes = (of: Session): string => JSON.stringify(of.deriveMessages())
    hold(bytes(session) === bytes(original), 'the same bytes')
    sameList(session.surface.nodes, original.surface.nodes, 'surface')
    hold(session.surface.replaceGeneration === original.surface.replaceGeneration, 'the same generation')
    hold(session.length === original.length && session.firstLiveSeq === original.length, 'every event is restored')
    sameText(session.events, original.events, 'events')
  }
  return {
    restored({ session }, original) {
      check(session, original)
    },
    // Whatever came next met the same answer.
    judged: judge,
    end({ session }) {
      check(Session.restore(reread(session)), session)
    },
  }
})

const forkDerivesThePrefix: Law = watching(() => {
  const check = (child: Session, parent: Session, boundary: number): void => {
    const expected: readonly Message[] = deriveMessagesAt(parent.events, boundary)
    const marker = child.eventAt(boundary + 1)
    hold(
      marker?.type === 'session/end-seed' && marker.data.inherited === true,
      'the marker follows the inherited events',
    )
    sameList(child.events.slice(0, boundary + 1), parent.events.slice(0, boundary + 1), 'inherited events')
    sameList(deriveMessagesAt(child.events, boundary + 1), expected, `fork at ${String(boundary)}, at the marker`)
    const closers = child.events.slice(boundary + 2)
    const before = new ReferenceSession(parent.events.slice(0, boundary + 1))
    sameList(expected, before.derived(), `derived at ${String(boundary)}`)
    sameText(describeClosers(closers), referenceClosers(before), `closers of a fork at ${String(boundary)}`)
    hold(child.header.parentSession === parent.id && child.header.isSeeded, 'the header names the parent')
  }
  return {
    forked: ({ session }, parent, boundary) => {
      check(session, parent, boundary)
    },
    judged: judge,
    end({ session }) {
      const store = new SessionStore()
      for (let boundary = 0; boundary < session.length; boundary++)
        check(store.fork(session, boundary), session, boundary)
    },
  }
})

const listsExtend: Law = watching(() => {
  let before: readonly Message[] = []
  return {
    before({ session }) {
      before = [...session.deriveMessages()]
    },
    accepted({ session }, event) {
      if (typeof event.surfaceOp === 'object') return
      sameList(session.deriveMessages().slice(0, before.length), before, 'start of the derived list')
    },
  }
})

/** The laws of the kernel, by name. SPEC 3, 4. */
export const laws = {
  'accepts exactly what the reference accepts': acceptance,
  'incremental equals full fold at every prefix': incremental,
  'a refused candidate changes nothing': refusalChangesNothing,
  'public reads before a refused candidate do not drift': readsDoNotDrift,
  'derive equals the walk of the surface': deriveIsTheWalk,
  'every prefix plus closers is accepted and provider-valid': prefixPlusClosers,
  'closers are idempotent': closersAreIdempotent,
  'restore(serialise(log)) derives the same bytes': restoreDerivesTheSame,
  'derive(fork at m) equals derive(prefix m)': forkDerivesThePrefix,
  'between replacements each derived list extends the one before': listsExtend,
} as const satisfies Record<string, Law>
