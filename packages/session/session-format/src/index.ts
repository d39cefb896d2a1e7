export { SessionFormatError, SessionFormatUnsupportedMigration } from './errors.ts'
export type { SessionFormatErrorCode, SessionFormatErrorPlace } from './errors.ts'
export type {
  EdgeContext,
  FormatEdge,
  FormatEvent,
  FormatHeader,
  FormatLog,
  FormatNote,
  FormatVersion,
  ReadOptions,
  SeqMembers,
  TakeNote,
  VocabularyPack,
} from './log.ts'
