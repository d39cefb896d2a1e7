import { type MessageId, Session, type UserMessage } from '@palimpsest/session'

/** What a user says: text, blocks, or a whole message. */
export type AgentInput = string | UserMessage['content'] | UserMessage

/** When a queued message is claimed, and whether it wakes the loop. */
export type InputKind = 'send' | 'steer' | 'inject'

export interface QueuedInput<Waiter> {
  readonly kind: InputKind
  readonly message: UserMessage
  readonly waiter?: Waiter
}

/**
 * Input as a message that the log will take, frozen. Throws `SessionAcceptanceError` for one that it would refuse, so
 * that the caller hears of it and not the turn.
 */
export function inputMessage(input: AgentInput, session: Session, createId: () => string): UserMessage {
  const content = typeof input === 'string' ? [{ type: 'text' as const, text: input }] : input
  const message: UserMessage = isMessage(content)
    ? content
    : { id: createId() as MessageId, role: 'user', content, source: { kind: 'user' } }
  const scratch = Session.create({ vocabulary: session.vocabulary })
  return scratch.append('user/message', message, { surfaceOp: 'append' }).data
}

function isMessage(content: Exclude<AgentInput, string>): content is UserMessage {
  return !Array.isArray(content)
}

/** Queued input in the order in which it came. */
export class InputQueue<Waiter> {
  #queue: QueuedInput<Waiter>[] = []

  push(input: QueuedInput<Waiter>): void {
    this.#queue.push(input)
  }

  /** Puts back, before all else, what no log has taken: it waits for the next step and wakes nothing. */
  putBack(messages: readonly UserMessage[]): void {
    this.#queue.unshift(...messages.map((message) => ({ kind: 'inject' as const, message })))
  }

  /** Whether something waits that starts a turn. */
  get wakes(): boolean {
    return this.#queue.some(({ kind }) => kind !== 'inject')
  }

  /** Whether something waits that keeps a turn going. */
  get steers(): boolean {
    return this.#queue.some(({ kind }) => kind === 'steer')
  }

  /** What a turn begins with: the first `send`, and all that waits for the next step. */
  claimTurn(): QueuedInput<Waiter>[] {
    const first = this.#queue.find(({ kind }) => kind === 'send')
    return this.#take((input) => input.kind !== 'send' || input === first)
  }

  /** What waits for the next step. */
  claimStep(): QueuedInput<Waiter>[] {
    return this.#take(({ kind }) => kind !== 'send')
  }

  claimAll(): QueuedInput<Waiter>[] {
    return this.#take(() => true)
  }

  #take(wanted: (input: QueuedInput<Waiter>) => boolean): QueuedInput<Waiter>[] {
    const taken = this.#queue.filter(wanted)
    this.#queue = this.#queue.filter((input) => !wanted(input))
    return taken
  }
}
