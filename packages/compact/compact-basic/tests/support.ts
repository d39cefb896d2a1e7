import {
  type CreateSessionOptions,
  type Message,
  type SessionEvent,
  Session,
  coreEvents,
  foldSurface,
  messageId,
} from '@palimpsest/session'
import { type CompactionOutcome, type EstimateOptions, type Summarize, compactionEvents } from '@palimpsest/compact'
import { toAnthropic, toOpenAiChat, validateAnthropic, validateOpenAiChat } from '@palimpsest/provider-messages'
import { assistantData, resultData, systemData, text, toolCall, userData } from '@palimpsest/testkit'
import { expect } from 'vitest'

export const vocabulary = coreEvents.extend(compactionEvents)
const appended = { surfaceOp: 'append' } as const

const given = process.env['PALIMPSEST_SEED']
/** `PALIMPSEST_SEED` repeats a run. */
const seed: number = given === undefined ? (Math.random() * 2 ** 31) | 0 : Number(given)
/** The runs of a property; more in deep runs. */
export const runs = (few: number): { numRuns: number; seed: number } => ({
  numRuns: process.env['PALIMPSEST_DEEP'] === '1' ? few * 20 : few,
  seed,
})

export const add = (session: Session, type: string, data: object, intent?: unknown): SessionEvent =>
  session.append(type as never, data as never, intent as never)
export const say = (session: Session, words: string): SessionEvent =>
  add(session, 'user/message', userData(`u-${session.length}`, [text(words)]), appended)
export const reply = (session: Session, words: string, usage?: object): SessionEvent => {
  const data = assistantData(`a-${session.length}`, [text(words)])
  return add(session, 'assistant/message', usage === undefined ? data : { ...data, usage }, appended)
}
export const call = (session: Session, words: string, ...ids: string[]): SessionEvent =>
  add(
    session,
    'assistant/message',
    assistantData(`a-${session.length}`, [text(words), ...ids.map((id) => toolCall(id))]),
    appended,
  )
export const answer = (session: Session, id: string, words: string): SessionEvent =>
  add(session, 'tool/result', resultData(`r-${session.length}`, id, [text(words)]), appended)

export function fresh(options: CreateSessionOptions = {}): Session {
  let clock = 1000
  const session = Session.create({ id: 'talk', createdAt: 1000, now: () => (clock += 10), vocabulary, ...options })
  if (options.seed === undefined) add(session, 'system/message', systemData('head', [text('You are terse.')]), appended)
  return session
}

/** Every character of a text is a token, and nothing else costs any. */
export const byLength: EstimateOptions = { countTokens: (words) => words.length, frameTokens: 0 }

/** So many characters, with a tag in front that no other text has. */
export const tagged = (tag: number, length: number): string => `#${tag}#`.padEnd(length, 'x')
export const tagsOf = (messages: readonly Message[]): number[] =>
  [...JSON.stringify(messages.map(({ content }) => content)).matchAll(/#(\d+)#/g)].map(([, tag]) => Number(tag))

/** A summary that is the tags of what it read, one after another. */
export const joinTags: Summarize = ({ messages }) => ({
  text: tagsOf(messages)
    .map((tag) => `#${tag}#`)
    .join(''),
})

/** What the providers take, as a list or the beginning of one. */
export function expectAccepted(messages: readonly Message[]): void {
  const { report: _, ...wire } = toAnthropic(messages, { model: 'claude-sonnet-4-5' })
  expect(validateAnthropic(wire, { profile: 'transcript' })).toEqual([])
  expect(validateOpenAiChat({ messages: toOpenAiChat(messages).messages }, { profile: 'transcript' })).toEqual([])
}

/** What the model sees is what the providers take. */
export const expectValid = (session: Session): void => expectAccepted(session.deriveMessages())

/** Appended surface events that the surface stands for, in its order. */
export function originsOf(session: Session): number[] {
  const { nodes, replacements } = foldSurface(session.events)
  const bySeq = new Map(replacements.map((replacement) => [replacement.seq, replacement.shadowedSeqs]))
  const expand = (seq: number): number[] => bySeq.get(seq as never)?.flatMap(expand) ?? [seq]
  return nodes.flatMap(expand)
}

export const kinds = (outcomes: readonly CompactionOutcome[]): string[] => outcomes.map(({ kind }) => kind)

export const pendingUser = (id: string, words: string): ReturnType<typeof userData> =>
  userData(messageId(id), [text(words)])
