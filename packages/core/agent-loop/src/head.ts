import type { EventOf, MessageId, Session, StepRef } from '@palimpsest/session'

/** The system message at entry 0 of the surface; `undefined` for a surface without one. SPEC 3.4. */
export function headOf(session: Session): EventOf<'system/message'> | undefined {
  const [first] = session.surface.nodes
  const event = first === undefined ? undefined : session.eventAt(first)
  return event?.type === 'system/message' ? event : undefined
}

/**
 * Brings entry 0 of the surface up to the prompt: appended to an empty surface, replaced where the prompt changed. A
 * surface that begins with something else stays as it is; there the prompt goes into the header. Without a prompt of the
 * caller's the head that is there stays. SPEC 3.4.
 */
export function settleHead(session: Session, system: string | undefined, place: StepRef, createId: () => string): void {
  const head = headOf(session)
  if (head === undefined && session.surface.nodes.length > 0) return
  if (head !== undefined && (system === undefined || promptOf(head) === system)) return
  const prompt = system ?? ''
  const message = {
    id: createId() as MessageId,
    role: 'system' as const,
    content: prompt === '' ? [] : [{ type: 'text' as const, text: prompt }],
    source: { kind: 'plugin' as const, plugin: 'agent-loop' },
  }
  const intent =
    head === undefined
      ? { surfaceOp: 'append' as const }
      : {
          surfaceOp: { op: 'replace' as const, startSeq: head.seq, endSeq: head.seq },
          sourceEventSeqs: [head.seq],
        }
  session.append('system/message', { ...place, message }, intent)
}

function promptOf(head: EventOf<'system/message'>): string {
  return head.data.message.content.map(({ text }) => text).join('')
}
