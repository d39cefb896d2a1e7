import type { ContentBlock, Message, SurfaceOp } from '@palimpsest/session'

/**
 * The kernel as a reader of the spec would write it in an afternoon: every question is answered from the whole log,
 * every time, with no state in between. Slow and obvious on purpose; it shares no code with the kernel. SPEC 1, 3, 4.
 */

/** What a caller hands to `append`, valid or not. */
export interface Candidate {
  readonly type: string
  readonly data: unknown
  readonly intent?: Readonly<Record<string, unknown>>
}

/** An event as far as the reference looks at it. */
export interface ReferenceEvent {
  readonly type: string
  readonly seq: number
  readonly data: object
  readonly surfaceOp?: SurfaceOp | undefined
  readonly sourceEventSeqs?: readonly number[] | undefined
}

/** One member of an event's payload. */
export const memberOf = ({ data }: ReferenceEvent, name: string): unknown => Reflect.get(data, name)

export const surfaceTypes = ['system/message', 'user/message', 'assistant/message', 'tool/result']

/** The seqs that the model sees, in order. SPEC 1. */
function referenceSurface(log: readonly ReferenceEvent[]): number[] {
  let surface: number[] = []
  for (const { type, seq, surfaceOp } of log) {
    if (!surfaceTypes.includes(type) || surfaceOp === undefined) continue
    if (surfaceOp === 'append') surface = [...surface, seq]
    else {
      const start = surface.indexOf(surfaceOp.startSeq)
      const end = surface.indexOf(surfaceOp.endSeq)
      surface = [...surface.slice(0, start), seq, ...surface.slice(end + 1)]
    }
  }
  return surface
}

/** The message of one event, or `null` where it makes none. SPEC 3.3. */
function referenceMessage(event: ReferenceEvent): Message | null {
  if (event.type === 'user/message') return event.data as Message
  if (event.type === 'tool/result') return memberOf(event, 'message') as Message
  if (event.type !== 'system/message' && event.type !== 'assistant/message') return null
  const message = memberOf(event, 'message') as Message
  return message.content.length === 0 ? null : message
}

/** The ids that an assistant message calls, in order; none for any other event. */
export function callsOf(event: ReferenceEvent): string[] {
  if (event.type !== 'assistant/message') return []
  const message = memberOf(event, 'message') as Message
  return message.content.filter((block) => block.type === 'tool-call').map((block) => block.id)
}

/** The id that a result answers. */
export function answerOf(event: ReferenceEvent): string | undefined {
  if (event.type !== 'tool/result') return undefined
  const [block] = (memberOf(event, 'message') as Message).content
  return block?.type === 'tool-result' ? block.toolCallId : undefined
}

/**
 * Reads a surface from its start: which calls are open at the end, and whether every answer met its call, no call was
 * open twice, and nothing but answers stood between calls and their answers.
 */
export function referencePairing(entries: readonly ReferenceEvent[]): {
  readonly open: string[]
  readonly sound: boolean
} {
  let open: string[] = []
  let sound = true
  for (const entry of entries) {
    const answer = answerOf(entry)
    if (answer !== undefined) {
      if (!open.includes(answer)) sound = false
      open = open.filter((id) => id !== answer)
      continue
    }
    if (open.length > 0) sound = false
    for (const id of callsOf(entry)) {
      if (open.includes(id)) sound = false
      open = [...open, id]
    }
  }
  return { open, sound }
}

/** What is wrong with a list of messages for any provider: an unanswered call, a stray answer, a call twice. */
export function transcriptProblems(messages: readonly Message[]): string[] {
  const problems: string[] = []
  let open: string[] = []
  messages.forEach(({ role, content }, at) => {
    const answers = content.filter((block: ContentBlock) => block.type === 'tool-result')
    if (open.length > 0 && answers.length === 0)
      problems.push(`message ${String(at)} stands before ${open.join()} is answered`)
    for (const { toolCallId } of answers) {
      if (!open.includes(toolCallId)) problems.push(`message ${String(at)} answers ${toolCallId}, which is not open`)
      open = open.filter((id) => id !== toolCallId)
    }
    for (const block of content) {
      if (block.type !== 'tool-call') continue
      if (role !== 'assistant') problems.push(`message ${String(at)} calls a tool as ${role}`)
      if (open.includes(block.id)) problems.push(`message ${String(at)} opens ${block.id} twice`)
      open = [...open, block.id]
    }
  })
  if (open.length > 0) problems.push(`${open.join()} stays unanswered`)
  return problems
}

/** One log and what follows from it. */
export class ReferenceSession {
  readonly log: readonly ReferenceEvent[]

  constructor(log: readonly ReferenceEvent[] = []) {
    this.log = log
  }

  /** The session after one more event. */
  with(event: ReferenceEvent): ReferenceSession {
    return new ReferenceSession([...this.log, event])
  }

  /** The session as it was after its first `count` events. */
  prefix(count: number): ReferenceSession {
    return new ReferenceSession(this.log.slice(0, count))
  }

  surface(): number[] {
    return referenceSurface(this.log)
  }

  entries(): ReferenceEvent[] {
    return this.surface().map((seq) => this.log[seq] as ReferenceEvent)
  }

  derived(): Message[] {
    return this.entries()
      .map(referenceMessage)
      .filter((message) => message !== null)
  }

  openCalls(): string[] {
    return referencePairing(this.entries()).open
  }

  replaceGeneration(): number {
    return this.replacements().length
  }

  replacements(): ReferenceEvent[] {
    return this.log.filter(({ type, surfaceOp }) => surfaceTypes.includes(type) && typeof surfaceOp === 'object')
  }

  /** The turn and step that are open at the end of the log. */
  position(): { readonly turn?: number; readonly step?: number } {
    let turn: number | undefined
    let step: number | undefined
    for (const event of this.log) {
      const { type } = event
      if (type === 'turn/start') turn = memberOf(event, 'turn') as number
      if (type === 'turn/end') turn = undefined
      if (type === 'step/start') step = memberOf(event, 'step') as number
      if (type === 'step/end' || type === 'turn/end') step = undefined
    }
    return { ...(turn === undefined ? {} : { turn }), ...(step === undefined ? {} : { step }) }
  }

  /** Seqs that `seq` covered directly when it was appended, in surface order; none unless it is a replacement. */
  shadows(seq: number): number[] {
    const before = this.prefix(seq).surface()
    const after = this.prefix(seq + 1).surface()
    return before.filter((entry) => !after.includes(entry))
  }
}
