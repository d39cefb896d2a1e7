export { nodeFileSystem } from './file-system.ts'
export type { DirectoryEntry, FileKind, FileStat, FileSystem, LockKind, OpenFile, OpenMode } from './file-system.ts'
