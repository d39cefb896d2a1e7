import { lstatSync, readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'

/**
 * Everything that one thing on disk may be after a power loss: first what is durable, last what the page cache holds,
 * between them what it held since the last sync. The kernel may have written any of them.
 */
export type Versions<T> = readonly [T, ...T[]]

/** A file: its length and each of its pages persist on their own. */
export interface FileImage {
  readonly kind: 'file'
  /** The path that the file was first seen at, relative to the root. */
  readonly label: string
  readonly size: Versions<number>
  readonly pages: ReadonlyMap<number, Versions<Buffer>>
}

/** A directory: each name in it persists on its own. `undefined` is a name that names nothing. */
export interface DirectoryImage {
  readonly kind: 'directory'
  readonly label: string
  readonly entries: ReadonlyMap<string, Versions<NodeImage | undefined>>
}

export type NodeImage = FileImage | DirectoryImage

class FileNode {
  readonly label: string
  size: [number, ...number[]] = [0]
  readonly pages = new Map<number, [Buffer, ...Buffer[]]>()
  /** Pages that the next sync will write. A failed sync empties it: the kernel takes such pages for clean. */
  readonly #dirty = new Set<number>()
  #isSizeDirty = false

  constructor(label: string) {
    this.label = label
  }

  observe(content: Buffer, pageSize: number): void {
    if (this.size.at(-1) !== content.length) {
      this.size.push(content.length)
      this.#isSizeDirty = true
    }
    const count = Math.max(Math.ceil(content.length / pageSize), ...[...this.pages.keys()].map((page) => page + 1))
    for (let index = 0; index < count; index += 1) {
      const page = Buffer.alloc(pageSize)
      page.set(content.subarray(index * pageSize, (index + 1) * pageSize))
      const versions = this.pages.get(index) ?? [Buffer.alloc(pageSize)]
      if (!versions.at(-1)?.equals(page)) {
        versions.push(page)
        this.#dirty.add(index)
      }
      this.pages.set(index, versions)
    }
  }

  touch(first: number, end: number): void {
    for (let index = first; index < end; index += 1) this.#dirty.add(index)
  }

  sync(): void {
    if (this.#isSizeDirty) this.size = [last(this.size)]
    for (const index of this.#dirty) {
      const versions = this.pages.get(index)
      if (versions !== undefined) this.pages.set(index, [last(versions)])
    }
    this.failSync()
  }

  failSync(): void {
    this.#isSizeDirty = false
    this.#dirty.clear()
  }
}

class DirectoryNode {
  readonly label: string
  readonly entries = new Map<string, [Node | undefined, ...(Node | undefined)[]]>()

  constructor(label: string) {
    this.label = label
  }

  observe(name: string, node: Node | undefined): void {
    const versions = this.entries.get(name) ?? [undefined]
    if (versions.at(-1) !== node) versions.push(node)
    this.entries.set(name, versions)
  }

  sync(): void {
    for (const [name, versions] of this.entries) this.entries.set(name, [versions.at(-1)])
  }
}

type Node = FileNode | DirectoryNode

function last<T>(versions: readonly [T, ...T[]]): T {
  return versions[versions.length - 1] as T
}

/**
 * What a directory tree holds, and how much of it is on the disk for sure. The real tree plays the page cache: `observe`
 * compares it with what is known after each call, `sync` declares one file or directory durable.
 */
export class DiskModel {
  readonly #root: string
  readonly #pageSize: number
  readonly #top = new DirectoryNode('.')
  #live = new Map<string, Node>()

  /** Takes the tree below `root` as durable. `pageSize` in bytes. */
  constructor(root: string, pageSize: number) {
    this.#root = root
    this.#pageSize = pageSize
    this.observe()
    for (const node of this.#live.values()) node.sync()
    this.#top.sync()
  }

  /** Notes what changed in the tree since the last look: names, and the bytes of new files and of `written`. */
  observe(written?: object): void {
    const seen = new Map<string, Node>()
    this.#look(this.#top, '', seen, written)
    // An inode number that is no longer in use may come back as another file.
    this.#live = seen
  }

  /** The file or directory that an absolute path names now; undefined where it names none of the tree. */
  nodeAt(path: string): object | undefined {
    return path === this.#root ? this.#top : this.#live.get(inode(path))
  }

  /** Makes one file or directory durable, as it is in the cache. */
  sync(node: object): void {
    ;(node as Node).sync()
  }

  /** Notes that a file's sync failed: what it should have written may or may not be durable, and will not be tried again. */
  failSync(file: object): void {
    if (file instanceof FileNode) file.failSync()
  }

  /** Notes that bytes were written, also where they equal what was there. Both in bytes. */
  touch(node: object, position: number, length: number): void {
    if (node instanceof FileNode)
      node.touch(Math.floor(position / this.#pageSize), Math.ceil((position + length) / this.#pageSize))
  }

  /** The tree with all it may be after a power loss now. */
  image(): DirectoryImage {
    return imageOf(this.#top, new Map()) as DirectoryImage
  }

  #look(directory: DirectoryNode, path: string, seen: Map<string, Node>, written: object | undefined): void {
    const names = readdirSync(join(this.#root, path))
    for (const name of directory.entries.keys()) if (!names.includes(name)) directory.observe(name, undefined)
    for (const name of names) {
      const label = path === '' ? name : `${path}/${name}`
      const absolute = join(this.#root, label)
      const key = inode(absolute)
      const known = seen.get(key) ?? this.#live.get(key)
      const isDirectory = known === undefined && lstatSync(absolute).isDirectory()
      const node = known ?? (isDirectory ? new DirectoryNode(label) : new FileNode(label))
      seen.set(key, node)
      directory.observe(name, node)
      if (node instanceof DirectoryNode) this.#look(node, label, seen, written)
      else if (known === undefined || node === written) node.observe(readFileSync(absolute), this.#pageSize)
    }
  }
}

function inode(path: string): string {
  const { dev, ino } = lstatSync(path, { bigint: true })
  return `${dev}:${ino}`
}

/** Copies what may change later; pages never do. One node has one image, so hard links stay one file. */
function imageOf(node: Node, done: Map<Node, NodeImage>): NodeImage {
  const known = done.get(node)
  if (known !== undefined) return known
  if (node instanceof FileNode) {
    const pages = new Map([...node.pages].map(([index, versions]) => [index, [...versions] as const] as const))
    const image: FileImage = { kind: 'file', label: node.label, size: [...node.size], pages }
    done.set(node, image)
    return image
  }
  const entries = new Map<string, Versions<NodeImage | undefined>>()
  const image: DirectoryImage = { kind: 'directory', label: node.label, entries }
  done.set(node, image)
  for (const [name, [first, ...rest]] of node.entries) {
    const copy = (child: Node | undefined): NodeImage | undefined =>
      child === undefined ? undefined : imageOf(child, done)
    entries.set(name, [copy(first), ...rest.map(copy)])
  }
  return image
}
