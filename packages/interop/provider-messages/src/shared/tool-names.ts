const OUTSIDE = /[^a-zA-Z0-9_-]/g

/** A tool's own name and the one that a provider sees. */
export interface ToolName {
  readonly name: string
  readonly wire: string
}

/**
 * Maps tool names one to one into `limit` characters of `[a-zA-Z0-9_-]`. A name that fits stays; any other gets a
 * digest of itself as suffix, so that what it becomes does not depend on the names around it.
 */
export class ToolNames {
  readonly #limit: number
  readonly #isReserved: (name: string) => boolean
  readonly #wires = new Map<string, string>()
  readonly #taken = new Set<string>()

  /** A reserved name does not fit, whatever its characters. */
  constructor(limit: number, isReserved: (name: string) => boolean = () => false) {
    this.#limit = limit
    this.#isReserved = isReserved
  }

  wire(name: string): string {
    const known = this.#wires.get(name)
    if (known !== undefined) return known
    const plain = name.replace(OUTSIDE, '_')
    const fits = plain === name && name !== '' && name.length <= this.#limit && !this.#isReserved(name)
    let wire = fits ? name : this.#digested(name, plain, '')
    // Only a name that imitates the digest of another one gets here.
    for (let copy = 2; this.#taken.has(wire); copy += 1) wire = this.#digested(name, plain, `_${copy}`)
    this.#taken.add(wire)
    this.#wires.set(name, wire)
    return wire
  }

  /** Every name mapped so far, in order of appearance. */
  entries(): ToolName[] {
    return Array.from(this.#wires, ([name, wire]) => ({ name, wire }))
  }

  #digested(name: string, plain: string, copy: string): string {
    const suffix = `_${digest(name)}${copy}`
    return `${plain.slice(0, this.#limit - suffix.length)}${suffix}`
  }
}

/** FNV-1a over UTF-16 units, as 8 hex digits. */
function digest(text: string): string {
  let hash = 0x811c9dc5
  for (let index = 0; index < text.length; index += 1) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193)
  }
  return (hash >>> 0).toString(16).padStart(8, '0')
}
