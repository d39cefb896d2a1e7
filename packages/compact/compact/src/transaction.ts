import {
  type Message,
  type MessageId,
  type Session,
  type SessionSeq,
  type UserMessage,
  SessionAcceptanceError,
} from '@palimpsest/session'
import { type Failure, askForSummary, isFailure, messageOf } from './asking.ts'
import type { CompactionOutcome, CompactionTrigger, Summarize, Summary } from './contract.ts'
import { sizeOfMessage, sumSizes } from './estimate.ts'
import { requireVocabulary } from './events.ts'
import { activeCompaction, endBracket, writeEnds } from './lock.ts'
import { type RangeEnds, type Span, messagesOf, planSpan, prefixOf, stillStands } from './span.ts'

export interface RunCompactionOptions {
  readonly trigger: CompactionTrigger
  /** Resolves when everything appended so far is durable, as `store.flush(session)` does. Nothing to wait for unless given. */
  readonly flush?: () => void | Promise<void>
  readonly signal?: AbortSignal
  /** How long the summariser may take, in milliseconds, more than 0. No limit unless given. */
  readonly timeoutMs?: number
  /** Tokens of messages; an estimate unless given. */
  readonly measure?: (messages: readonly Message[]) => number
  /** Whether a summary shrinks the range that it is to stand for; when it has fewer tokens, unless given. */
  readonly shrinks?: (range: readonly Message[], summary: Message) => boolean
  /** Gives the id of the compaction; a random UUID unless given. Ids must differ within a session. */
  readonly createId?: () => string
  /** Makes the text that the model reads from the summary's. */
  readonly frame?: (text: string) => string
}

/** Text before a summary unless the caller frames it. */
const lead = 'Summary of the earlier conversation, which it replaces:\n\n'

/**
 * Replaces a balanced range of surface entries with one `user/message` that holds their summary: `compaction/start` →
 * summarise → `compaction/summary` → replacement → flush → `compaction/end`. Resolves to `compacted` only when the
 * replacement is durable; whatever fails before it leaves the surface as it was and says why in the outcome and in
 * `compaction/end`.
 *
 * `compaction/end` is not waited for: a crash before it leaves a bracket that the next lifetime ignores, and the
 * replacement stands. What is appended meanwhile stays behind the replacement.
 *
 * Throws `CompactionError` with a `range/` code, or `vocabulary/missing`, and `RangeError` for `timeoutMs`; then
 * nothing was written. SPEC 7.1.
 */
export async function runCompaction(
  session: Session,
  range: RangeEnds,
  summarize: Summarize,
  options: RunCompactionOptions,
): Promise<CompactionOutcome> {
  const { trigger, signal, timeoutMs, measure = estimate } = options
  requireVocabulary(session)
  if (timeoutMs !== undefined && !(timeoutMs > 0)) {
    throw new RangeError(`timeoutMs is ${timeoutMs}: expected more than 0 milliseconds`)
  }
  const span = planSpan(session, range)
  if (signal?.aborted === true) return { kind: 'failed', code: 'aborted', message: 'aborted before it began' }
  const active = activeCompaction(session)
  if (active !== undefined) return { kind: 'failed', code: 'busy', message: `compaction ${active} is under way` }

  const messages = messagesOf(session, span.seqs)
  const prefix = prefixOf(session, span)
  const tokensBefore = measure(messages)
  const compactionId = options.createId?.() ?? crypto.randomUUID()
  const attempt: Attempt = {
    session,
    span,
    compactionId,
    tokensBefore,
    measure,
    shrinks: (summary, tokensAfter) => options.shrinks?.(messages, summary) ?? tokensAfter < tokensBefore,
    frame: options.frame ?? ((text) => lead + text),
  }
  const { startSeq, endSeq, seqs } = span
  writeEnds(session)
  try {
    session.append('compaction/start', { compactionId, trigger, startSeq, endSeq, tokensBefore })
  } catch (error) {
    return { kind: 'failed', code: 'append-refused', message: messageOf(error) }
  }

  const summary = await askForSummary(summarize, { session, seqs, messages, prefix }, { signal, timeoutMs })
  const replaced = replace(attempt, summary, signal)
  if ('code' in replaced) return fail(attempt, replaced)
  try {
    await options.flush?.()
  } catch (error) {
    const failure: Failure = { code: 'flush-failed', message: `the replacement is not durable: ${messageOf(error)}` }
    return fail(attempt, failure, replaced.replacementSeq)
  }
  endBracket(session, { compactionId, replacementSeq: replaced.replacementSeq })
  return { kind: 'compacted', compactionId, shadowedSeqs: seqs, tokensBefore, ...replaced }
}

interface Attempt {
  readonly session: Session
  readonly span: Span
  readonly compactionId: string
  readonly tokensBefore: number
  readonly measure: (messages: readonly Message[]) => number
  readonly shrinks: (summary: UserMessage, tokensAfter: number) => boolean
  readonly frame: (text: string) => string
}

interface Replaced {
  readonly replacementSeq: SessionSeq
  readonly tokensAfter: number
}

/** Holds a summary against the session as it now stands and puts it there, in one go. */
function replace(attempt: Attempt, summary: Summary | Failure, signal: AbortSignal | undefined): Replaced | Failure {
  if (isFailure(summary)) return summary
  // Both may be settled when we wake: a person who aborted does not want to see it done.
  if (signal?.aborted === true) return { code: 'aborted', message: 'the compaction was aborted' }
  const written = write(attempt, summary)
  if ('code' in written) return written
  const { message, tokensAfter, isSmaller } = written
  if (!isSmaller) {
    const sizes = `the summary has ${tokensAfter} tokens, the range ${attempt.tokensBefore}`
    return { code: 'not-smaller', message: sizes }
  }
  try {
    return append(attempt, summary, message, tokensAfter)
  } catch (error) {
    // What the summariser says of itself may be no payload: its provider, model or usage.
    const isPayload = error instanceof SessionAcceptanceError && error.code === 'payload/invalid'
    return { code: isPayload ? 'summarizer-failed' : 'append-refused', message: messageOf(error) }
  }
}

/** The message that stands for the range, by the caller's own frame and measure. */
function write(
  { compactionId, frame, measure, shrinks }: Attempt,
  { text }: Summary,
): { readonly message: UserMessage; readonly tokensAfter: number; readonly isSmaller: boolean } | Failure {
  try {
    const message = replacementMessage(compactionId, frame(text))
    const tokensAfter = measure([message])
    return { message, tokensAfter, isSmaller: shrinks(message, tokensAfter) }
  } catch (error) {
    return { code: 'summarizer-failed', message: `the summary could not be framed or measured: ${messageOf(error)}` }
  }
}

function append(
  { session, span, compactionId, tokensBefore }: Attempt,
  { text: _, ...made }: Summary,
  message: UserMessage,
  tokensAfter: number,
): Replaced | Failure {
  const { startSeq, endSeq, seqs: shadowedSeqs } = span
  const shadowedRange = { startSeq, endSeq }
  if (!stillStands(session, span)) return changed(span)
  const counts = { tokensBefore, tokensAfter }
  session.append('compaction/summary', { compactionId, shadowedRange, shadowedSeqs, ...counts, ...made })
  // A listener may have replaced an entry when it heard of the summary.
  if (!stillStands(session, span)) return changed(span)
  const intent = { surfaceOp: { op: 'replace', ...shadowedRange }, sourceEventSeqs: shadowedSeqs } as const
  return { replacementSeq: session.append('user/message', message, intent).seq, tokensAfter }
}

function replacementMessage(compactionId: string, text: string): UserMessage {
  return {
    id: `compaction-${compactionId}` as MessageId,
    role: 'user',
    content: [{ type: 'text', text }],
    source: { kind: 'plugin', plugin: 'compact', compactionId },
  }
}

function changed({ startSeq, endSeq }: Span): Failure {
  return { code: 'changed', message: `entries ${startSeq} to ${endSeq} are no longer what was summarised` }
}

function fail({ session, compactionId }: Attempt, failure: Failure, replacementSeq?: SessionSeq): CompactionOutcome {
  const { code, message } = failure
  endBracket(session, {
    compactionId,
    ...(replacementSeq === undefined ? {} : { replacementSeq }),
    error: { code, message },
  })
  return { kind: 'failed', code, message, compactionId }
}

function estimate(messages: readonly Message[]): number {
  return sumSizes(messages.map((message) => sizeOfMessage(message, {}))).tokens
}
