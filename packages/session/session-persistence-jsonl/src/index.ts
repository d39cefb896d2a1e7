export { nodeFileSystem } from './file-system.ts'
export type { DirectoryEntry, FileKind, FileStat, FileSystem, LockKind, OpenFile, OpenMode } from './file-system.ts'
export { jsonlPersistence } from './persistence.ts'
export type { JsonlPersistenceOptions } from './persistence.ts'
export type { LockMode } from './claim.ts'
export { readDamagedLog } from './damaged.ts'
export type {
  DamagedLog,
  DamagedPart,
  HeaderRange,
  ReadDamagedLogOptions,
  ReadableRecord,
  UnreadableRange,
} from './damaged.ts'
