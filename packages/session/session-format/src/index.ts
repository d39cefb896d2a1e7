export { SessionFormatError, SessionFormatUnsupportedMigration } from './errors.ts'
export type { SessionFormatErrorCode, SessionFormatErrorPlace } from './errors.ts'
export type { FormatEdge, FormatEvent, FormatHeader, FormatLog, FormatVersion, SeqMembers, VocabularyPack } from './log.ts'
