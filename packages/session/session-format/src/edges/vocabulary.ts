import { unsupported } from '../errors.ts'
import type { FormatEvent, FormatVersion, VocabularyPack } from '../log.ts'
import { seqMembers, requireNoSeqs } from '../references.ts'

/** The core event types of versions 0 and 1: nothing of theirs but the envelope and the packs' payloads names a seq. */
const coreTypes: ReadonlySet<string> = new Set([
  'turn/start',
  'turn/end',
  'step/start',
  'step/end',
  'user/message',
  'assistant/chunk',
  'assistant/message',
  'tool/call',
  'tool/result',
  'request/header',
  'request/context',
  'session/end-seed',
])

/**
 * Throws `SessionFormatUnsupportedMigration` for an event of a type that neither version 0 or 1 nor a pack has, unless
 * it is ignorable and names no seq that could move. SPEC 2.2, 6.
 */
export function requireKnown(event: FormatEvent, from: FormatVersion, packs: readonly VocabularyPack[]): void {
  if (coreTypes.has(event.type) || seqMembers(event.type, packs) !== undefined) return
  if (event.ignorable === true) requireNoSeqs(event, from)
  else throw unsupported(from, event, 'is of a type that no vocabulary pack lists: give the pack of its plugin')
}
