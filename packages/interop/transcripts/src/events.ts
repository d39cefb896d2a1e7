import { compactionEvents } from '@palimpsest/compact'
import { deepSeekHarnessPack, packVocabulary } from '@palimpsest/session-format'
import { z } from 'zod'
import { coreEvents, defineEvents } from '@palimpsest/session'
import type { Vocabulary } from '@palimpsest/session'

/** A source line as it stands, kept because no other event holds all of it. Always written `ignorable`. SPEC 8. */
export interface ImportRaw {
  /** Line of the source file, from 1. */
  readonly line: number
  /** Byte offset of the line in the source file. */
  readonly offset: number
  /** Why it is not on the surface, or not wholly: the codes of the README. */
  readonly reason: string
  /** The line without its newline, or its bytes in base64. */
  readonly text: string
  /** Present where the line is not UTF-8. */
  readonly encoding?: 'base64'
}

/**
 * A source that was imported before went on inside a turn: that turn is read again behind this event. Always written
 * `ignorable`. SPEC 8.
 */
export interface ImportRegrown {
  /** Event of an import of the whole source with which the new reading begins. */
  readonly from: number
  /** By how much its turns count further here. */
  readonly turns: number
  /** Whether the first prompt behind this event replaces an old reading. */
  readonly covers: boolean
  /** Events that made the head of the surface, which stays: which of the import each is, and its seq here. */
  readonly heads?: readonly { readonly event: number; readonly at: number }[]
}

declare module '@palimpsest/session' {
  interface SessionEventMap {
    'import/raw': ImportRaw
    'import/regrown': ImportRegrown
  }
}

/** The event types that importers write beside the core's. */
export const importEvents: Vocabulary = defineEvents(
  {
    'import/raw': z.looseObject({
      line: z.number().int().positive(),
      offset: z.number().int().nonnegative(),
      reason: z.string().min(1),
      text: z.string(),
      encoding: z.literal('base64').optional(),
    }),
    'import/regrown': z.looseObject({
      from: z.number().int().nonnegative(),
      turns: z.number().int(),
      covers: z.boolean(),
      heads: z
        .array(z.looseObject({ event: z.number().int().nonnegative(), at: z.number().int().nonnegative() }))
        .optional(),
    }),
  },
  { owner: '@palimpsest/transcripts' },
)

const ownEvents: Vocabulary = coreEvents.extend(compactionEvents).extend(importEvents)

/** The vocabulary of imported sessions, those of deepseek-harness included. */
export const importVocabulary: Vocabulary = ownEvents.extend(packVocabulary(deepSeekHarnessPack, ownEvents))
