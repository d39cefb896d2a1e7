export { PersistenceError, SessionConflictError, SessionCorruptionError, SessionLockedError } from './errors.ts'
export type { CorruptionPlace, PersistenceErrorCode } from './errors.ts'
export type {
  AttachmentMeta,
  AttachmentStore,
  HandleStatus,
  OpenedSession,
  RecoveredRange,
  RecoveryKind,
  RecoveryReport,
  SessionHandle,
  SessionPersistence,
  SessionQuery,
  SessionStat,
} from './contract.ts'
export { hasEnvelope } from './envelope.ts'
export { memoryPersistence } from './memory.ts'
export type { MemoryShelves } from './memory.ts'
export { promptLine } from './prompt.ts'
export { persistSession } from './write-behind.ts'
export type { PersistSessionOptions, PersistedSession } from './write-behind.ts'
export { WriteQueue } from './write-queue.ts'
export type { WriteQueueOptions } from './write-queue.ts'
