import { type EventOf, Session, type SessionEvent, messageId, sessionId, toolCallId } from '@palimpsest/session'
import type { SessionHandle } from '@palimpsest/session-persistence'
import { Command } from 'commander'
import type { Cli } from '../cli.ts'
import { withStore } from '../store.ts'
import { allEvents } from '../vocabulary.ts'

/** Name of the hidden command that the demonstration starts and kills. */
export const writerCommandName = 'demo-writer'

/**
 * An agent in the middle of its work: each event is on the disk before its line is printed. Ends inside a tool call,
 * by being killed, or when whoever started it is gone.
 */
export function writerCommand(cli: Cli): Command {
  return new Command(writerCommandName)
    .requiredOption('--root <dir>')
    .argument('<id>')
    .action(async (id: string, options: { readonly root: string }) => {
      await withStore(cli, options, async (store) => {
        const handle = await store.open(sessionId(id), 'write')
        await work(cli, handle)
        await new Promise((resolve) => process.stdin.resume().on('end', resolve))
      })
    })
}

async function work(cli: Cli, handle: SessionHandle): Promise<void> {
  const session = Session.restore(handle.stored, { vocabulary: allEvents, unknown: 'keep' })
  const lastTurn = session.events.findLast((event): event is EventOf<'turn/start'> => event.type === 'turn/start')
  const step = { turn: (lastTurn?.data.turn ?? 0) + 1, step: 1 }
  const callId = toolCallId('call_deploy')
  const commit = async (event: SessionEvent): Promise<void> => {
    await handle.append([event])
    cli.io.stdout(`${JSON.stringify({ seq: event.seq, type: event.type })}\n`)
  }
  await commit(session.append('turn/start', { turn: step.turn }))
  await commit(session.append('step/start', step))
  await commit(
    session.append(
      'user/message',
      {
        id: messageId('demo-u'),
        role: 'user',
        content: [{ type: 'text', text: 'All green. Deploy it.' }],
        source: { kind: 'user' },
      },
      { surfaceOp: 'append' },
    ),
  )
  const call = { name: 'Bash', arguments: '{"command":"./deploy.sh production"}' }
  await commit(
    session.append(
      'assistant/message',
      {
        ...step,
        message: {
          id: messageId('demo-a'),
          role: 'assistant',
          content: [
            { type: 'text', text: 'Deploying now.' },
            { type: 'tool-call', id: callId, ...call },
          ],
          source: { kind: 'model', provider: 'anthropic', model: 'claude-sonnet-4-5' },
        },
        stream: [],
      },
      { surfaceOp: 'append' },
    ),
  )
  await commit(session.append('tool/call', { ...step, callId, ...call }))
}
