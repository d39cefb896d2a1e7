import { type EventOf, type Session, type SessionSeq, messageId } from '@palimpsest/session'

/**
 * Compaction by hand: one ordinary `user/message` takes the place of everything between the head and the last prompt,
 * and cites all that it covers.
 */
export function compactByHand(session: Session, summary: string): EventOf<'user/message'> {
  const nodes = [...session.surface.nodes]
  const lastPrompt = nodes.findLastIndex((seq) => session.eventAt(seq)?.type === 'user/message')
  const range: SessionSeq[] = nodes.slice(1, lastPrompt)
  const [startSeq, endSeq] = [range[0], range.at(-1)]
  if (startSeq === undefined || endSeq === undefined)
    throw new RangeError('nothing stands between the head and the last prompt')
  return session.append(
    'user/message',
    {
      id: messageId('demo-summary'),
      role: 'user',
      content: [{ type: 'text', text: summary }],
      source: { kind: 'plugin', plugin: 'demo' },
    },
    { surfaceOp: { op: 'replace', startSeq, endSeq }, sourceEventSeqs: range },
  )
}
