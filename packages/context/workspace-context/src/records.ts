import type { Message } from '@palimpsest/session'

/** The `source.plugin` of what this package writes. */
export const PLUGIN = 'workspace-context'

/** Why a file that is there is not quoted. */
export type LeftOutReason =
  /** More specific files used up the budget. */
  | 'over-budget'
  /** Larger than one file may be. */
  | 'too-large'
  /** Not UTF-8, or holds a NUL. */
  | 'not-text'
  /** It is there, but cannot be read. */
  | 'unreadable'
  /** A symbolic link that leaves the root. */
  | 'outside-root'

/**
 * What a message says of one file: an entry of `source.files`. The path is the key of the slot: relative to the root,
 * forward slashes. SPEC 7.3.
 */
export type FileRecord =
  | {
      readonly path: string
      readonly status: 'quoted'
      /** `sha256:` and 64 hex digits of the UTF-8 bytes of the text as quoted. */
      readonly digest: string
      /** It stands for an older text that the model may have read. */
      readonly changed?: true
    }
  /** A file of the same directory holds the same text and is told of in its place. */
  | { readonly path: string; readonly status: 'same'; readonly as: string }
  | { readonly path: string; readonly status: 'left-out'; readonly reason: LeftOutReason }
  /** It was quoted, and is there no more. */
  | { readonly path: string; readonly status: 'removed' }

const reasons: readonly unknown[] = [
  'over-budget',
  'too-large',
  'not-text',
  'unreadable',
  'outside-root',
] satisfies LeftOutReason[]

/** The records of a message of this package, `undefined` for any other message. Entries nobody here wrote are skipped. */
export function recordsOf(message: Message): readonly FileRecord[] | undefined {
  const { source } = message
  if (source.kind !== 'plugin' || source.plugin !== PLUGIN || !Array.isArray(source['files'])) return undefined
  return (source['files'] as readonly unknown[]).filter(isRecord)
}

function isRecord(value: unknown): value is FileRecord {
  if (typeof value !== 'object' || value === null) return false
  const record = value as Readonly<Record<string, unknown>>
  if (typeof record['path'] !== 'string') return false
  switch (record['status']) {
    case 'quoted':
      return typeof record['digest'] === 'string'
    case 'same':
      return typeof record['as'] === 'string'
    case 'left-out':
      return reasons.includes(record['reason'])
    default:
      return record['status'] === 'removed'
  }
}

/** Whether two records of one path tell the model the same. */
export function saysTheSame(a: FileRecord, b: FileRecord): boolean {
  if (a.status === 'quoted') return b.status === 'quoted' && a.digest === b.digest
  if (a.status === 'same') return b.status === 'same' && a.as === b.as
  if (a.status === 'left-out') return b.status === 'left-out' && a.reason === b.reason
  return b.status === 'removed'
}
