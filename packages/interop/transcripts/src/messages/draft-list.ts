import { isObject, stringMember } from '../json.ts'
import type { AttachmentRef, JsonObject, UserBlock } from '@palimpsest/session'
import type { DocumentBlock, InlineData } from '../attachments.ts'
import type { Draft, DraftModel, DraftOrigin, DraftUser } from '../conversation/draft.ts'
import type { LooseObject } from '../json.ts'

/** One message of an array, or one item. */
export interface MessageElement {
  /** Its number in the array, from 1. */
  readonly line: number
  readonly value: LooseObject
}

/** What a reader of a shape is given beside the elements. */
export interface ReaderContext {
  readonly provider: string
  readonly model: string
  /** Puts bytes away: durable when it returns. */
  readonly keep: (inline: InlineData) => Promise<AttachmentRef>
}

/** Reads the elements of one shape. Elements never throw. */
export type ShapeReader = (elements: readonly MessageElement[], context: ReaderContext) => Promise<DraftList>

/** The drafts of an array while it is read, and what no draft has a place for. */
export class DraftList {
  readonly drafts: Draft[] = []
  readonly #leftOut = new Map<number, Set<string>>()
  /** Drafts at the front of the list that nobody said. */
  #unsaid = 0

  /** Whether a system message that comes now is the prompt of the conversation. */
  get isEmpty(): boolean {
    while (this.drafts[this.#unsaid]?.kind === 'raw') this.#unsaid += 1
    return this.#unsaid === this.drafts.length
  }

  /** By element, the names of members that nothing holds. */
  get leftOut(): ReadonlyMap<number, readonly string[]> {
    return new Map([...this.#leftOut].map(([line, names]) => [line, [...names]]))
  }

  raw(line: number, reason: string, type?: string): void {
    this.drafts.push({ kind: 'raw', line, reason, ...(type === undefined ? {} : { type }) })
  }

  /** Members of an element that nothing holds. */
  leave(line: number, names: readonly string[]): void {
    if (names.length === 0) return
    const known = this.#leftOut.get(line) ?? new Set()
    this.#leftOut.set(line, known)
    for (const name of names) known.add(name)
  }

  user(origin: DraftOrigin, content: readonly UserBlock[], opensTurn = true): void {
    const draft: DraftUser = { kind: 'user', origin, content, opensTurn }
    this.drafts.push(draft)
  }

  model(
    origin: DraftOrigin,
    { provider, model }: ReaderContext,
    blocks: DraftModel['blocks'],
    more: Partial<DraftModel> = {},
  ): void {
    this.drafts.push({ kind: 'model', origin, provider, model, blocks, ...more })
  }
}

/** Where a message stands, with further members of its source. */
export function originOf(line: number, members: JsonObject = {}, id?: string): DraftOrigin {
  return {
    lines: [line],
    ...(id === undefined ? {} : { id }),
    ...(Object.keys(members).length === 0 ? {} : { members }),
  }
}

export function documentBlock(attachment: AttachmentRef): DocumentBlock {
  return { type: 'document', attachment }
}

/** Text of a value that should have been text. */
export function textOfValue(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value ?? null)
}

/** What a part calls itself. */
export function typeOf(part: unknown): string {
  return isObject(part) ? (stringMember(part, 'type') ?? 'no type') : typeof part
}
