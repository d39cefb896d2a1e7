import { createHash } from 'node:crypto'
import type { LeftOutReason } from './records.ts'

/** One instruction file that is there. */
export type InstructionFile =
  | {
      readonly kind: 'text'
      /** As it is quoted: no byte order mark, lines end in `\n`. */
      readonly text: string
      /** UTF-8 bytes of `text`. */
      readonly bytes: number
      readonly digest: string
    }
  | { readonly kind: 'refused'; readonly reason: Exclude<LeftOutReason, 'over-budget'> }

/**
 * Reads the bytes of a file. A byte order mark and CR before LF are dropped, so that the digest is the same on every
 * checkout. What is blank has nothing to say and is `undefined`, as if the file were not there.
 */
export function readContent(bytes: Uint8Array): InstructionFile | undefined {
  const decoded = decode(bytes)
  if (decoded === undefined || decoded.includes('\0')) return { kind: 'refused', reason: 'not-text' }
  const text = decoded.replaceAll('\r\n', '\n')
  if (text.trim() === '') return undefined
  return { kind: 'text', text, bytes: Buffer.byteLength(text), digest: `sha256:${sha256(text)}` }
}

/** 64 hex digits of the UTF-8 bytes. */
export function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}

function decode(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    return undefined
  }
}
