import { createHash } from 'node:crypto'
import type { TurnResult } from '@palimpsest/agent-loop'
import { type Compacted, type CompactionOutcome, undoCompaction } from '@palimpsest/compact'
import { basicCompaction, extractSummarizer } from '@palimpsest/compact-basic'
import { type Message, type Session, type SessionEvent, type SessionId, explain } from '@palimpsest/session'
import { type SessionPersistence, persistSession } from '@palimpsest/session-persistence'
import { checkSession } from '../checks/session.ts'
import { storeDerived } from '../derived.ts'
import { CliError } from '../exit.ts'
import { readStored } from '../store.ts'
import { restoreStored } from '../writing.ts'
import { demoAgent } from './agent.ts'
import { SecondProcess } from './child.ts'
import { digestOfCall, digestsFromLog } from './requests.ts'
import { afterwards } from './script.ts'
import type { ModelCall } from './scripted-model.ts'
import type { Stage } from './story.ts'

/** Tokens that the demonstration's model takes: little, so that the session outgrows them before the reader's eyes. */
const budget = { tokens: 500 }

/** What happens while the loop goes on, told as it happens. */
export interface EndingListener {
  recovered(closers: readonly SessionEvent[]): void
  turn(prompt: string, result: TurnResult): void
}

export interface Ending {
  readonly closers: readonly SessionEvent[]
  /** Whether the model was told that nobody knows how the killed call ended. */
  readonly sawUnknown: boolean
  readonly compaction: Compacted
  readonly covers: number
  readonly origins: number
  readonly events: readonly SessionEvent[]
  /** Requests of both processes, and how many of them the log gives again. */
  readonly requests: number
  readonly rebuilt: number
  /** SHA-256 of the derived messages, here and in a process that read them from disk. */
  readonly live: string
  readonly replayed: string
  readonly isSound: boolean
  readonly undone: { readonly id: SessionId; readonly messages: number; readonly isSound: boolean }
  /** Messages of the compacted session. */
  readonly messages: number
}

/** Recovers the session, lets the loop go on with it, and proves what the log is good for. `given` is what the killed process gave its model. */
export async function endDemo(
  stage: Stage,
  id: SessionId,
  given: readonly string[],
  listener: EndingListener,
): Promise<Ending> {
  const { store } = stage
  const handle = await store.open(id, 'write')
  try {
    const closers = handle.stored.recovered.closers.flatMap((seq) => handle.stored.events[seq] ?? [])
    listener.recovered(closers)
    const session = restoreStored(handle.stored)
    const persisted = persistSession(session, handle)
    const calls: ModelCall[] = []
    const compaction = await goOn(store, session, () => persisted.flush(), calls, listener)
    await persisted.flush()
    const digests = [...given, ...calls.map(digestOfCall)]
    const fromLog = await digestsFromLog((await readStored(store, id)).events, store.attachments(id))
    const { shadows, origins } = explain(session.events, compaction.replacementSeq)
    return {
      closers,
      sawUnknown: wasTold(calls[0], closers),
      compaction,
      covers: shadows.length,
      origins: origins.length,
      events: session.events,
      requests: digests.length,
      rebuilt: digests.filter((digest, n) => fromLog[n] === digest).length,
      live: digestOf(session.deriveMessages()),
      replayed: digestOf(await replay(stage, id)),
      isSound: await isSound(store, id),
      undone: await undo(store, session, compaction),
      messages: session.deriveMessages().length,
    }
  } finally {
    await handle.close()
  }
}

/** The rest of the conversation, with a compaction when it outgrows its budget. */
async function goOn(
  store: SessionPersistence,
  session: Session,
  flush: () => Promise<void>,
  calls: ModelCall[],
  listener: EndingListener,
): Promise<Compacted> {
  const loop = demoAgent({
    session,
    store,
    flush,
    answers: afterwards.answers,
    hear: (call) => calls.push(call),
    shell: (command) => Promise.resolve(afterwards.outputs.get(command) ?? ''),
  })
  const outcomes: CompactionOutcome[] = []
  const onOutcome = (outcome: CompactionOutcome): number => outcomes.push(outcome)
  const summarize = extractSummarizer()
  basicCompaction({ session, summarize, budget, flush, onOutcome }).attach(loop)
  for (const prompt of afterwards.prompts) {
    const result = await loop.send(prompt)
    listener.turn(prompt, result)
    if (result.reason.kind !== 'completed')
      throw new CliError('demo/failed', `a turn ended otherwise than well: ${JSON.stringify(result.reason)}`)
  }
  await loop.close()
  const [compacted, ...others] = outcomes
  if (compacted?.kind !== 'compacted' || others.length > 0)
    throw new CliError('demo/failed', 'the session was not compacted once')
  return compacted
}

/** Whether a model was given the text of the closing result. */
function wasTold(call: ModelCall | undefined, closers: readonly SessionEvent[]): boolean {
  const result = closers.find((event) => event.type === 'tool/result')
  const [block] = result?.data.message.content[0].content ?? []
  if (call === undefined || block?.type !== 'text') return false
  return JSON.stringify(call.prompt).includes(JSON.stringify(block.text))
}

async function replay({ io, root }: Stage, id: SessionId): Promise<readonly Message[]> {
  const output = await new SecondProcess(io, ['messages', id, '--json', '--root', root]).output()
  return (JSON.parse(output) as { messages: readonly Message[] }).messages
}

async function undo(
  store: SessionPersistence,
  session: Session,
  { compactionId }: Compacted,
): Promise<Ending['undone']> {
  const child = undoCompaction(session, compactionId)
  await storeDerived(store, session.id, child)
  return { id: child.id, messages: child.deriveMessages().length, isSound: await isSound(store, child.id) }
}

async function isSound(store: SessionPersistence, id: SessionId): Promise<boolean> {
  return (await checkSession(store, id)).every(({ severity }) => severity === 'info')
}

function digestOf(messages: readonly Message[]): string {
  return createHash('sha256').update(JSON.stringify(messages)).digest('hex')
}
