import { type Json, type SessionEvent, type SessionHeader, parseSessionHeader } from '@palimpsest/session'
import { SessionFormatError } from '../errors.ts'
import type { FormatEvent, FormatHeader } from '../log.ts'
import { isObject, member } from '../members.ts'

/** The header of a log of version 3 that deepseek-harness wrote, as one of ours. Throws `format/refused`. SPEC 2.6, 6. */
export function adoptHeader({ version, ...header }: FormatHeader): SessionHeader {
  try {
    return parseSessionHeader({
      format: 'palimpsest',
      version,
      ...header,
      delegationDepth: header['delegationDepth'] ?? 0,
    })
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    throw new SessionFormatError('format/refused', `line 1: ${why}`, { line: 1, cause: error })
  }
}

/** An event of version 3 as the kernel takes it. Builds before the release still named a replacement's ends `start` and `end`. SPEC 6. */
export function adoptEvent({ line: _, surfaceOp, ...event }: FormatEvent): SessionEvent {
  return { ...event, ...(surfaceOp === undefined ? {} : { surfaceOp: released(surfaceOp) }) } as unknown as SessionEvent
}

function released(surfaceOp: Json): Json {
  if (!isObject(surfaceOp) || Object.keys(surfaceOp).length !== 3) return surfaceOp
  const [op, start, end] = ['op', 'start', 'end'].map((name) => member(surfaceOp, name))
  return op !== 'replace' || start === undefined || end === undefined ? surfaceOp : { op, startSeq: start, endSeq: end }
}
