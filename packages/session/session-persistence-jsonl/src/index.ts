export { nodeFileSystem } from './file-system.ts'
export type { DirectoryEntry, FileKind, FileStat, FileSystem, OpenFile, OpenMode } from './file-system.ts'
