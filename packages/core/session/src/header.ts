import { z } from 'zod'
import { SessionError } from './errors.ts'
import type { SessionEvent } from './events.ts'
import type { SessionId } from './ids.ts'
import { type Json, snapshotJson } from './json.ts'

declare const crypto: { randomUUID(): string }

/** Version of the log format that this package writes. SPEC 6. */
export const SESSION_FORMAT_VERSION = 3

/** Identity and lineage of a session: immutable, outside the log. Unknown members survive a round trip. SPEC 2.6. */
export interface SessionHeader {
  readonly format: 'palimpsest'
  readonly version: typeof SESSION_FORMAT_VERSION
  readonly id: SessionId
  /** Unix epoch, integer milliseconds. */
  readonly createdAt: number
  /** Absolute path. */
  readonly cwd?: string
  readonly parentSession?: SessionId
  /** Whether the log begins with inherited history; the cut is its last inherited `session/end-seed`. */
  readonly isSeeded: boolean
  readonly origin?: 'subagent'
  /** 0 for a session that no agent delegated. */
  readonly delegationDepth: number
  readonly agentPreset?: string
  /** What an importer read; `source` is a file name, never an absolute path. */
  readonly importedFrom?: { readonly agent: string; readonly source: string }
}

/** A session at rest. SPEC 2.6. */
export interface StoredSession {
  readonly header: SessionHeader
  readonly events: readonly SessionEvent[]
  /** Events before the last inherited `session/end-seed`; 0 without one. */
  readonly inheritedEventCount: number
}

/** The header members that `Session.create` takes; the rest is given. */
export type HeaderOptions = Partial<Omit<SessionHeader, 'format' | 'version' | 'id' | 'parentSession'>> & {
  /** A random UUID unless given. */
  readonly id?: string
  readonly parentSession?: string
}

/** Payload schema of a header; members it does not name pass through. */
export const sessionHeaderSchema: z.ZodType = z.looseObject({
  format: z.literal('palimpsest'),
  version: z.literal(SESSION_FORMAT_VERSION),
  id: z.string().min(1),
  createdAt: z.number().int(),
  cwd: z
    .string()
    .regex(/^(\/|\\|[A-Za-z]:[\\/])/, 'is not an absolute path')
    .optional(),
  parentSession: z.string().min(1).optional(),
  isSeeded: z.boolean(),
  origin: z.literal('subagent').optional(),
  delegationDepth: z.number().int().nonnegative(),
  agentPreset: z.string().optional(),
  importedFrom: z
    .looseObject({
      agent: z.string().min(1),
      source: z.string().regex(/^(?!\/|\\|[A-Za-z]:[\\/])/, 'is an absolute path'),
    })
    .optional(),
})

/** A frozen header; throws `SessionError` `header/invalid` when an option is of the wrong kind. */
export function createSessionHeader(
  options: Loose<HeaderOptions> & Pick<SessionHeader, 'isSeeded'>,
  now: () => number = Date.now,
): SessionHeader {
  const { id, createdAt, cwd, parentSession, isSeeded, origin, delegationDepth, agentPreset, importedFrom } = options
  const members = {
    format: 'palimpsest',
    version: SESSION_FORMAT_VERSION,
    id: id ?? crypto.randomUUID(),
    createdAt: createdAt ?? now(),
    cwd,
    parentSession,
    isSeeded,
    origin,
    delegationDepth: delegationDepth ?? 0,
    agentPreset,
    importedFrom,
  }
  return parseSessionHeader(Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)))
}

/** Members that are undefined count as absent. */
type Loose<Options> = { readonly [Name in keyof Options]?: Options[Name] | undefined }

/**
 * A frozen header from a value that may be anything, such as the first line of a log; its own `type` member is left
 * out. Throws `SessionError` `header/newer-version` for a log of a newer version of the format, `header/invalid` for
 * anything else that is no header. SPEC 2.6, 5.2.
 */
export function parseSessionHeader(value: unknown): SessionHeader {
  const copy = snapshotJson(value)
  if ('fault' in copy) throw new SessionError('header/invalid', `the session header is not JSON: ${copy.fault.reason}`)
  const { type: _, ...header } = (typeof copy.value === 'object' ? (copy.value ?? {}) : {}) as Record<string, Json>
  const { format, version } = header
  if (format === 'palimpsest' && typeof version === 'number' && version > SESSION_FORMAT_VERSION) {
    throw new SessionError(
      'header/newer-version',
      `the session is of format version ${version}, written by a newer version: upgrade (this one reads ${SESSION_FORMAT_VERSION})`,
    )
  }
  const issue = sessionHeaderSchema.safeParse(header).error?.issues[0]
  if (issue !== undefined) {
    throw new SessionError('header/invalid', `session header, ${issue.path.join('.')}: ${issue.message}`)
  }
  // The members are frozen: they are those of the snapshot.
  return Object.freeze(header) as unknown as SessionHeader
}

/** Events before the last inherited `session/end-seed`; 0 without one. SPEC 2.6. */
export function countInherited(events: readonly SessionEvent[]): number {
  return Math.max(
    0,
    events.findLastIndex((event) => event.type === 'session/end-seed' && event.data.inherited === true),
  )
}
