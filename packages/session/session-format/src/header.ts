import { type JsonObject, isSessionSeq } from '@palimpsest/session'
import { SessionFormatError } from './errors.ts'
import type { Row } from './framing.ts'
import type { FormatHeader, ReadOptions } from './log.ts'
import { isPlaceholder, normalised } from './placeholders.ts'

const absolute = /^(\/|\\|[A-Za-z]:[\\/])/
const isName = (value: unknown): boolean => typeof value === 'string' && value !== ''

/** What members of a header must be where they are there at all, of every version. */
const members: Readonly<Record<string, (value: unknown) => boolean>> = {
  cwd: (value) => typeof value === 'string' && absolute.test(value),
  parentSession: isName,
  origin: (value) => value === 'subagent',
  delegationDepth: isSessionSeq,
  agentPreset: (value) => typeof value === 'string',
}

/**
 * A header of an old version, its `type` left out; `own` are members of that version beside those of all. A member that
 * nobody names passes. Of a recorded fixture, a `cwd` that begins with a placeholder is left out. Throws
 * `SessionFormatError` `format/not-a-log` or `format/normalised`. SPEC 2.6, 6.
 */
export function parseHeader({ value, line }: Row, options: ReadOptions, own: typeof members = {}): FormatHeader {
  const { type: _, ...rest } = value
  const header: JsonObject = rest
  const { id, createdAt } = header
  if (!isName(id)) throw invalid(line, 'id')
  if (!Number.isSafeInteger(createdAt)) throw invalid(line, 'createdAt')
  if (isPlaceholder(id) && options.normalised !== true) throw normalised(line, `id is the placeholder ${id}`)
  const kept = withoutCwdPlaceholder(header, line, options)
  for (const [name, isValid] of Object.entries({ ...members, ...own })) {
    if (Object.hasOwn(kept, name) && !isValid(kept[name])) throw invalid(line, name)
  }
  return kept as FormatHeader
}

function withoutCwdPlaceholder(header: JsonObject, line: number, options: ReadOptions): JsonObject {
  const { cwd, ...rest } = header
  if (typeof cwd !== 'string' || !cwd.startsWith('{{')) return header
  const message = `cwd begins with a placeholder: ${cwd}`
  if (options.normalised !== true) throw normalised(line, message)
  options.note?.({ code: 'placeholder/left-out', line, message: `${message}. It was left out` })
  return rest
}

function invalid(line: number, member: string): SessionFormatError {
  return new SessionFormatError('format/not-a-log', `line ${line}: the header's ${member} is missing or invalid`, {
    line,
  })
}
