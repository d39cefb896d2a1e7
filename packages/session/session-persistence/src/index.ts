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
export { WriteQueue } from './write-queue.ts'
export type { WriteQueueOptions } from './write-queue.ts'
