import { createHash } from 'node:crypto'
import { linkSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { DirectoryImage, FileImage, NodeImage, Versions } from './fs-disk-model.ts'

/** A tree as a power loss may leave it. */
export interface CrashTree {
  /** What was lost, one line each, for people. */
  readonly lost: readonly string[]
  /** Equal for equal trees. */
  readonly digest: string
  /** Makes the tree in an empty directory, with modes 0700 and 0600. */
  materialise(directory: string): void
}

interface Choice {
  readonly versions: Versions<unknown>
  readonly label: string
}

type Pick = <T>(versions: Versions<T>) => T

/** Numbers in [0, 1), the same for the same seed. */
export function seededRandom(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}

function choicesOf(node: NodeImage, found: Map<Versions<unknown>, Choice>): void {
  const add = (versions: Versions<unknown>, label: string): void => {
    if (versions.length > 1) found.set(versions, { versions, label })
  }
  if (node.kind === 'file') {
    add(node.size, `length of ${node.label}`)
    for (const [index, versions] of node.pages) add(versions, `page ${index} of ${node.label}`)
    return
  }
  for (const [name, versions] of node.entries) {
    add(versions, `entry ${name} of ${node.label}`)
    for (const child of versions) if (child !== undefined) choicesOf(child, found)
  }
}

/** Which version of each choice: every combination when they are at most `limit`, else the telling ones first, then a sample. */
function* assignments(choices: readonly Choice[], limit: number, random: () => number): Iterable<readonly number[]> {
  const tops = choices.map(({ versions }) => versions.length - 1)
  const total = tops.reduce((product, top) => product * (top + 1), 1)
  for (let code = 0; total <= limit && code < total; code += 1) {
    let rest = code
    yield tops.map((top) => {
      const digit = rest % (top + 1)
      rest = Math.floor(rest / (top + 1))
      return digit
    })
  }
  for (let made = 0; total > limit && made < limit; made += 1) {
    const one = Math.floor(made / 2) - 1
    if (made === 0) yield tops.map(() => 0)
    else if (made === 1) yield tops
    else if (one >= tops.length) yield tops.map((top) => Math.floor(random() * (top + 1)))
    else yield tops.map((top, index) => ((index === one) === (made % 2 === 0) ? 0 : top))
  }
}

function contentOf(file: FileImage, pick: Pick): Buffer {
  const content = Buffer.alloc(pick(file.size))
  const pageSize = file.pages.values().next().value?.[0].length ?? 0
  for (const [index, versions] of file.pages) {
    if (index * pageSize < content.length) pick(versions).copy(content, index * pageSize)
  }
  return content
}

type Step =
  | { readonly kind: 'directory'; readonly path: string }
  | { readonly kind: 'file'; readonly path: string; readonly content: Buffer }
  | { readonly kind: 'link'; readonly path: string; readonly to: string }

function* layOut(
  directory: DirectoryImage,
  pick: Pick,
  path = '',
  placed = new Map<FileImage, string>(),
): Iterable<Step> {
  for (const [name, versions] of [...directory.entries].sort(([left], [right]) => (left < right ? -1 : 1))) {
    const node = pick(versions)
    const at = join(path, name)
    if (node === undefined) continue
    if (node.kind === 'directory') {
      yield { kind: 'directory', path: at }
      yield* layOut(node, pick, at, placed)
      continue
    }
    const other = placed.get(node)
    placed.set(node, other ?? at)
    yield other === undefined
      ? { kind: 'file', path: at, content: contentOf(node, pick) }
      : { kind: 'link', path: at, to: other }
  }
}

function digestOf(steps: readonly Step[]): string {
  const hash = createHash('sha256')
  for (const step of steps) {
    hash.update(
      JSON.stringify([
        step.kind,
        step.path,
        step.kind === 'file' ? step.content.length : step.kind === 'link' ? step.to : 0,
      ]),
    )
    if (step.kind === 'file') hash.update(step.content)
  }
  return hash.digest('hex')
}

function materialise(steps: readonly Step[], directory: string): void {
  for (const step of steps) {
    const path = join(directory, step.path)
    if (step.kind === 'directory') mkdirSync(path, { mode: 0o700 })
    else if (step.kind === 'file') writeFileSync(path, step.content, { mode: 0o600 })
    else linkSync(join(directory, step.to), path)
  }
}

/**
 * The trees that a power loss may leave of `image`, whatever subset of the unsynced pages, lengths and names is lost.
 * All of them when they are at most `limit`; otherwise everything lost, nothing lost, each thing alone lost or kept,
 * and a random sample. Equal trees come once.
 */
export function* crashTrees(image: DirectoryImage, limit: number, random: () => number): Iterable<CrashTree> {
  const found = new Map<Versions<unknown>, Choice>()
  choicesOf(image, found)
  const choices = [...found.values()]
  const digests = new Set<string>()
  for (const assignment of assignments(choices, limit, random)) {
    const chosen = new Map(choices.map(({ versions }, index) => [versions, assignment[index] ?? 0]))
    const pick: Pick = (versions) => versions[chosen.get(versions) ?? 0] as (typeof versions)[0]
    const steps = [...layOut(image, pick)]
    const digest = digestOf(steps)
    if (digests.has(digest)) continue
    digests.add(digest)
    const lost = choices.flatMap(({ versions, label }, index) => {
      const version = assignment[index] ?? 0
      return version === versions.length - 1 ? [] : [`${label} (version ${version} of ${versions.length - 1})`]
    })
    yield { lost, digest, materialise: (directory) => materialise(steps, directory) }
  }
}
