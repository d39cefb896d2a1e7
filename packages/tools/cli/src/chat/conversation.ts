import { AgentLoop } from '@palimpsest/agent-loop'
import type { CompactionOutcome, Summarize } from '@palimpsest/compact'
import { type PromptAdapter, basicCompaction, modelSummarizer } from '@palimpsest/compact-basic'
import { languageModelAdapter } from '@palimpsest/provider-messages'
import { type EventOf, Session, type SessionId } from '@palimpsest/session'
import { type PersistedSession, type SessionPersistence, persistSession } from '@palimpsest/session-persistence'
import { type PruningReport, resultPruning } from '@palimpsest/tool-result-pruner'
import { allEvents } from '../vocabulary.ts'
import { restoreStored } from '../writing.ts'
import { type TextListener, listenTo } from './live-text.ts'
import type { ChatModel } from './models.ts'

export interface ConversationOptions {
  readonly model: ChatModel
  /** The session to go on with; a new one unless given. */
  readonly id: SessionId | undefined
  /** The system prompt. That of the session unless given. */
  readonly system: string | undefined
  /** Tokens. */
  readonly contextWindow: number
  readonly listener: TextListener
  readonly onCompaction: (outcome: CompactionOutcome) => void
  readonly onPruning: (report: PruningReport) => void
}

/** A stored session with the agent loop on it. Whoever opens it closes it. */
export interface Conversation {
  readonly session: Session
  readonly loop: AgentLoop
  /** Resolves when everything so far is durable. */
  flush(): Promise<void>
  /** Ends the running turn, writes what is left, and lets go of the session. A new one without events is not kept. */
  close(): Promise<void>
}

/** Opens a session of the store for a conversation: loop, persistence, compaction and pruning on one log. */
export async function openConversation(store: SessionPersistence, options: ConversationOptions): Promise<Conversation> {
  const { id, model, contextWindow, listener, onCompaction, onPruning } = options
  const fresh = id === undefined ? Session.create({ vocabulary: allEvents }) : undefined
  const handle = fresh === undefined ? await store.open(id as SessionId, 'write') : await store.create(fresh.header)
  try {
    const session = fresh ?? restoreStored(handle.stored)
    const persisted: PersistedSession = persistSession(session, handle)
    const attachments = store.attachments(session.id)
    const adapter = languageModelAdapter({ attachments })
    const flush = (): Promise<void> => persisted.flush()
    const loop = new AgentLoop({
      session,
      model: listenTo(model, listener),
      adapter,
      system: options.system ?? systemOf(session),
      contextWindow,
      flush,
      attachments,
    })
    // The cheaper one goes first: what it frees needs no summary.
    resultPruning({ onReport: onPruning }).attach(loop)
    const summarize = summarizerOf(model, adapter)
    basicCompaction({ session, summarize, contextWindow, flush, onOutcome: onCompaction }).attach(loop)
    return {
      session,
      loop,
      flush,
      close: async () => {
        await loop.close()
        await (session.length === 0 ? handle.close() : persisted.close())
      },
    }
  } catch (error) {
    await handle.close()
    throw error
  }
}

/** Replays what the session itself would send, for its prompt cache; a log without a request has nothing to replay. */
function summarizerOf(model: ChatModel, adapter: PromptAdapter): Summarize {
  const replaying = modelSummarizer({ model, adapter, prefix: 'replay' })
  const plain = modelSummarizer({ model, prefix: 'plain' })
  return (request) => {
    const canReplay = request.session.events.some(({ type }) => type === 'request/header')
    return (canReplay ? replaying : plain)(request)
  }
}

/** The prompt that a session goes by: its head, or, where the surface has none, what its last request carried. */
function systemOf({ events, surface }: Session): string {
  const head = events[surface.nodes[0] ?? -1]
  if (head?.type === 'system/message') return head.data.message.content.map(({ text }) => text).join('')
  const last = events.findLast((event): event is EventOf<'request/header'> => event.type === 'request/header')
  const instructions = last?.data.header.config['instructions']
  return typeof instructions === 'string' ? instructions : ''
}
