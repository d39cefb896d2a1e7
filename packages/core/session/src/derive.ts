import type { SessionEvent } from './events.ts'
import type { Message } from './messages.ts'
import type { SurfaceChange } from './surface.ts'

/**
 * The message that one event puts before the model, or null. An empty system or assistant message keeps its place
 * and says nothing. The message is the log's own frozen object. SPEC 3.3.
 */
export function deriveEventMessage(event: SessionEvent): Message | null {
  switch (event.type) {
    case 'user/message':
      return event.data
    case 'system/message':
    case 'assistant/message':
      return event.data.message.content.length === 0 ? null : event.data.message
    case 'tool/result':
      return event.data.message
    default:
      return null
  }
}

/**
 * The messages of a surface, kept up with it: an append projects one entry, a replacement its own. The array that
 * `messages()` gives keeps its identity until the surface changes.
 */
export class DerivedMessages {
  /** One per surface entry, in order. */
  readonly #slots: (Message | null)[] = []
  #silent = 0
  #messages: readonly Message[] | undefined

  apply(plan: SurfaceChange): void {
    const message = deriveEventMessage(plan.event)
    this.#messages = undefined
    if (message === null) this.#silent += 1
    if (plan.kind === 'append') {
      this.#slots.push(message)
      return
    }
    for (let position = plan.start; position <= plan.end; position += 1) {
      if (this.#slots[position] === null) this.#silent -= 1
    }
    if (plan.start === plan.end) this.#slots[plan.start] = message
    else this.#slots.splice(plan.start, plan.end - plan.start + 1, message)
  }

  messages(): readonly Message[] {
    this.#messages ??= Object.freeze(this.#collect())
    return this.#messages
  }

  #collect(): Message[] {
    // Copying is a memory move; filtering is not, and most surfaces have at most a silent head.
    if (this.#silent === 0) return (this.#slots as Message[]).slice()
    if (this.#silent === 1 && this.#slots[0] === null) return (this.#slots as Message[]).slice(1)
    return this.#slots.filter((message) => message !== null)
  }
}
