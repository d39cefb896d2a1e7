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
export type { MigrationFiles, NewFile } from './files.ts'
export { migrateFile } from './migrate.ts'
export type { MigrateOptions, Migration } from './migrate.ts'
export { openAnyVersion } from './open.ts'
export type { FormatSource, OpenFormatOptions, OpenedFormat } from './open.ts'
export { deepSeekHarnessPack } from './packs/deepseek-harness.ts'
export { packVocabulary } from './packs/vocabulary.ts'
