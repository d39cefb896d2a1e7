import type { DraftRaw } from '../conversation/draft.ts'
import type { KeptLine, ReadLine } from '../conversation/source-lines.ts'
import { countMember, isObject, stringMember } from '../json.ts'
import type { LooseObject } from '../json.ts'
import type { ImportWarning } from '../report.ts'

/** One entry of the tree that a session file is. */
export interface PiEntry {
  readonly line: number
  readonly type: string
  readonly value: LooseObject
  /** Epoch milliseconds. */
  readonly time?: number
}

/** What a session file holds, its lines told apart. FORMATS 3. */
export interface PiFile {
  readonly header: LooseObject
  /** The entries from the root to the leaf, which is the last entry of the file. */
  readonly path: readonly PiEntry[]
  /** Place on the path of the first entry with an id. */
  readonly placeOfId: ReadonlyMap<string, number>
  /** Place on the path by the entry's index among all JSON lines, the header's included: version 1 counts so. */
  readonly placeOfIndex: ReadonlyMap<number, number>
  /** The lines that are no entry of the path. */
  readonly raws: readonly DraftRaw[]
  readonly lines: readonly KeptLine[]
  readonly blank: number
  readonly warnings: readonly ImportWarning[]
}

const entryTypes: ReadonlySet<string> = new Set([
  'message',
  'custom_message',
  'branch_summary',
  'compaction',
  'model_change',
  'thinking_level_change',
  'custom',
  'label',
  'session_info',
])

interface Node extends PiEntry {
  /** Index among the JSON lines of the file, from 0. */
  readonly index: number
  /** The entry before it in the conversation. */
  readonly previous: Node | undefined
}

/** Tells lines apart and walks from the leaf to the root. Linear, whatever the ids are. */
export function readPiFile(read: readonly ReadLine[]): PiFile {
  const tree = new Tree()
  const raws: DraftRaw[] = []
  const lines: KeptLine[] = []
  let header: LooseObject | undefined
  let index = 0
  for (const line of read) {
    if (line.kind === 'blank') continue
    lines.push(line.kept)
    if (line.kind === 'foreign') {
      raws.push({ kind: 'raw', line: line.kept.line, reason: line.reason })
      continue
    }
    const { kept, value } = line
    const type = stringMember(value, 'type')
    const raw = (reason: string): void =>
      void raws.push({ kind: 'raw', line: kept.line, reason, ...(type === undefined ? {} : { type }) })
    if (type === 'session') {
      raw(header === undefined ? 'state' : 'line/repeated')
      header ??= value
    } else if (type === undefined) raw('line/no-type')
    else if (entryTypes.has(type) || stringMember(value, 'id') !== undefined) tree.add(kept, type, value, index)
    // The title line of a fork of the agent stands before the header and outside the tree.
    else raw(type === 'title' ? 'state' : 'line/unknown-type')
    index += 1
  }
  const { path, left } = tree.walk()
  for (const { line, type } of left) raws.push({ kind: 'raw', line, reason: 'branch/left', type })
  const placeOfId = new Map<string, number>()
  for (const [place, { value }] of path.entries()) {
    const id = stringMember(value, 'id')
    if (id !== undefined && !placeOfId.has(id)) placeOfId.set(id, place)
  }
  return {
    header: header ?? {},
    path,
    placeOfId,
    placeOfIndex: new Map(path.map((node, place) => [node.index, place])),
    raws,
    lines,
    blank: read.length - lines.length,
    warnings: tree.warnings,
  }
}

class Tree {
  readonly warnings: ImportWarning[] = []
  readonly #byId = new Map<string, Node>()
  readonly #nodes: Node[] = []

  add({ line, time }: KeptLine, type: string, value: LooseObject, index: number): void {
    const node = {
      line,
      type,
      value,
      index,
      previous: this.#previous(line, value),
      ...(time === undefined ? {} : { time }),
    }
    this.#nodes.push(node)
    const id = stringMember(value, 'id')
    if (id !== undefined) this.#byId.set(id, node)
  }

  /** Only entries before it can be an entry's parent, so that no path goes round. */
  #previous(line: number, value: LooseObject): Node | undefined {
    const before = this.#nodes.at(-1)
    const parent = Object.hasOwn(value, 'parentId') ? value['parentId'] : undefined
    if (parent === null) return undefined
    // Version 1 has no ids: each entry follows the one before it.
    if (typeof parent !== 'string') return before
    const found = this.#byId.get(parent)
    if (found !== undefined) return found
    const message = `its parent ${parent} is not before it in the file: it follows the entry before it`
    this.warnings.push({ line, code: 'branch/dangling', message })
    return before
  }

  walk(): { readonly path: readonly Node[]; readonly left: readonly Node[] } {
    const path: Node[] = []
    for (let node = this.#nodes.at(-1); node !== undefined; node = node.previous) path.push(node)
    const taken = new Set(path)
    return { path: path.reverse(), left: this.#nodes.filter((node) => !taken.has(node)) }
  }
}

/** Place on the path of the first entry that a compaction keeps; `undefined` where it keeps none that is before it. */
export function firstKept(file: PiFile, { value }: PiEntry, place: number): number | undefined {
  const id = stringMember(value, 'firstKeptEntryId')
  const index = countMember(value, 'firstKeptEntryIndex')
  const found =
    id === undefined ? (index === undefined ? undefined : file.placeOfIndex.get(index)) : file.placeOfId.get(id)
  return found === undefined || found >= place ? undefined : found
}

/** The messages that a compaction keeps in its own line, in its newer shape. */
export function retainedTail({ value }: PiEntry): readonly unknown[] | undefined {
  const tail = Object.hasOwn(value, 'retainedTail') ? value['retainedTail'] : undefined
  return Array.isArray(tail) ? tail : undefined
}

/** The message of an entry. */
export function messageOf(value: LooseObject): LooseObject | undefined {
  const message = Object.hasOwn(value, 'message') ? value['message'] : undefined
  return isObject(message) ? message : undefined
}
