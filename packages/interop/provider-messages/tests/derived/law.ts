import { interruptedTurnClosers, Session } from '@palimpsest/session'
import type { SessionEvent } from '@palimpsest/session'
import {
  intactThrough,
  toAnthropic,
  toDeepSeek,
  toOpenAiChat,
  toOpenAiResponses,
  validateAnthropic,
  validateDeepSeek,
  validateOpenAiChat,
  validateOpenAiResponses,
  type Profile,
} from '@palimpsest/provider-messages'
import { anyCommands, candidateFor, type Command, ReferenceSession, userData, text } from '@palimpsest/testkit'
import fc from 'fast-check'
import { it } from 'vitest'

const model = 'claude-sonnet-4-5'
const given = process.env['PALIMPSEST_SEED']
const seed = given === undefined ? Math.trunc(Math.random() * 2 ** 31) : Number(given)

/** A session that went through the valid steps of a sequence of commands. */
function play(commands: readonly Command[]): Session {
  const session = Session.create({ now: () => 1_700_000_000_000 })
  let reference = new ReferenceSession()
  for (const command of commands) {
    if (command.kind !== 'append') continue
    const { type, data, intent } = candidateFor(command.step, reference)
    reference = reference.with(session.append(type as never, data as never, intent as never) as SessionEvent)
  }
  return session
}

/** What every provider says against the messages of a session. */
function violations(session: Session, profile: Profile): unknown[] {
  const messages = session.deriveMessages()
  const { report: _, ...anthropic } = toAnthropic(messages, { model })
  const chat = toOpenAiChat(messages)
  const { report: __, ...responses } = toOpenAiResponses(messages, {
    model: 'gpt-5',
    intactThrough: intactThrough(session),
  })
  const { report: ___, ...deepSeek } = toDeepSeek(messages)
  return [
    ...validateAnthropic({ model, max_tokens: 1000, ...anthropic }, { profile }),
    ...validateOpenAiChat({ model: 'gpt-5', messages: chat.messages }, { profile }),
    ...validateOpenAiResponses({ model: 'gpt-5', ...responses }, { profile }),
    ...validateDeepSeek({ model: 'deepseek-v4-pro', ...deepSeek }, { profile }),
  ]
}

function refuseViolations(session: Session, profile: Profile, when: string): void {
  const found = violations(session, profile)
  if (found.length > 0) throw new Error(`${when}: ${JSON.stringify(found)}`)
}

/** SPEC 4: for every prefix of every valid log, prefix + closers derives what the providers take. */
export function describeDerivedLaw(runs: number): void {
  console.info(`derived lists: ${String(runs)} runs, PALIMPSEST_SEED=${String(seed)}`)
  it(`every prefix plus closers is provider-valid, seed ${String(seed)}`, () => {
    const law = fc.property(anyCommands, (commands) => {
      const { header, events } = play(commands)
      for (let count = 0; count <= events.length; count++) {
        // A log-only event changes no list.
        if (count > 0 && events[count - 1]?.surfaceOp === undefined) continue
        const prefix = events.slice(0, count)
        const repaired = Session.restore({
          header,
          events: [...prefix, ...interruptedTurnClosers(prefix)],
          inheritedEventCount: 0,
        })
        refuseViolations(repaired, 'transcript', `after ${String(count)} events`)
        repaired.append('user/message', userData('next', [text('go on')]), { surfaceOp: 'append' })
        refuseViolations(repaired, 'request', `after ${String(count)} events and a user message`)
      }
    })
    fc.assert(law, { numRuns: runs, seed })
  })
}

const override = process.env['PALIMPSEST_MODEL_RUNS']
export const defaultRuns: number = Number(override ?? 50)
export const deepRuns: number = Number(override ?? 2000)
