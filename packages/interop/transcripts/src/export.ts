import type { AttachmentRef, SessionSeq } from '@palimpsest/session'

/** Something that another agent's file cannot hold. */
export interface TranscriptLoss {
  /** Such as `reasoning/seal` or `result/error-flag`. */
  readonly code: string
  readonly message: string
  /** How often. */
  readonly count: number
  /** The events that it happened to, ascending. */
  readonly seqs: readonly SessionSeq[]
}

export interface TranscriptExport {
  /** The whole file. */
  readonly text: string
  readonly report: { readonly losses: readonly TranscriptLoss[] }
}

export interface TranscriptExportOptions {
  /** The bytes of an attachment; a placeholder text stands for one that is not there. */
  readonly attachment?: (ref: AttachmentRef) => Uint8Array | undefined
}

/** Collects losses while a file is written: one entry per code. */
export class Losses {
  readonly #found = new Map<string, { readonly message: string; count: number; readonly seqs: Set<SessionSeq> }>()

  add(code: string, message: string, seq: SessionSeq): void {
    const found = this.#found.get(code) ?? { message, count: 0, seqs: new Set<SessionSeq>() }
    found.count += 1
    found.seqs.add(seq)
    this.#found.set(code, found)
  }

  list(): TranscriptLoss[] {
    return [...this.#found].map(([code, { message, count, seqs }]) => ({
      code,
      message,
      count,
      seqs: [...seqs].sort((a, b) => a - b),
    }))
  }
}
