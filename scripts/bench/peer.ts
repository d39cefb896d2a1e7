import { pathToFileURL } from 'node:url'
import type { CodingStep } from '../../packages/testing/testkit/src/coding-session.ts'

/** What the benchmark calls of `@deepseek-ai/dsh-session`. */
export interface PeerModule {
  readonly Session: { create(id: string): PeerSession }
  foldSurface(events: readonly PeerEvent[]): { readonly nodes: readonly number[] }
}

export interface PeerSession {
  readonly surface: { readonly nodes: readonly number[] }
  append(type: string, data: unknown, placement?: PeerPlacement): unknown
  deriveMessages(): readonly unknown[]
}

export interface PeerPlacement {
  readonly surfaceOp?: 'append' | { readonly op: 'replace'; readonly start: number; readonly end: number }
  readonly sourceEventSeqs?: readonly number[]
}

export interface PeerEvent extends PeerPlacement {
  readonly type: string
  readonly seq: number
  readonly time: number
  readonly data: unknown
}

export async function loadPeer(path: string): Promise<PeerModule> {
  return (await import(pathToFileURL(path).href)) as PeerModule
}

/**
 * The placement of a step in the peer's terms. It names the ends of a replacement `start` and `end`, and knows no
 * `system/message`: that one event of a session stays in its log without a place on its surface.
 */
export function peerPlacement({ type, intent }: CodingStep): PeerPlacement | undefined {
  if (intent?.surfaceOp === undefined || type === 'system/message') return undefined
  const { surfaceOp, sourceEventSeqs } = intent
  const { startSeq: start, endSeq: end } = surfaceOp === 'append' ? { startSeq: 0, endSeq: 0 } : surfaceOp
  return {
    ...(sourceEventSeqs === undefined ? undefined : { sourceEventSeqs }),
    surfaceOp: surfaceOp === 'append' ? surfaceOp : { op: 'replace', start, end },
  }
}
