import {
  anyCommands,
  candidateFor,
  faultNames,
  plantFault,
  ReferenceSession,
  referenceVerdict,
} from '@palimpsest/testkit'
import type { Candidate, ReferenceEvent } from '@palimpsest/testkit'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'

/** Faults that leave a candidate valid: neighbours of the rules, which must not be refused. */
const harmless = new Set(['undefined intent member', 'ignorable known type', 'result rewritten to itself'])

function eventOf({ type, data, intent }: Candidate, session: ReferenceSession): ReferenceEvent {
  return { type, data: data as object, seq: session.log.length, ...intent }
}

describe('model commands, on the reference alone', () => {
  it('turns every step into an event that is accepted, and every fault but the harmless ones into refusals', () => {
    const refused = new Set<string>()
    const run = fc.property(anyCommands, (commands) => {
      expect(commands.length).toBeGreaterThanOrEqual(40)
      let session = new ReferenceSession()
      for (const command of commands) {
        if (!('step' in command)) continue
        const valid = candidateFor(command.step, session)
        expect([...referenceVerdict(session, valid)], JSON.stringify(valid)).toEqual([])
        if (command.kind === 'broken') {
          const broken = plantFault(command.fault, valid, session, command.step.pick)
          const verdict = referenceVerdict(session, broken)
          if (verdict.size > 0) refused.add(command.fault)
        } else session = session.with(eventOf(valid, session))
      }
    })
    fc.assert(run, { numRuns: 150 })
    expect(faultNames.filter((name) => !refused.has(name) && !harmless.has(name))).toEqual([])
    expect([...refused].filter((name) => harmless.has(name))).toEqual([])
  })
})
