/** Gives out names of which no two are the same. */
export class UniqueNames {
  readonly #taken = new Set<string>()
  readonly #next = new Map<string, number>()

  /** The wanted name, or `<wanted>~2` and so on where it is taken or empty. */
  give(wanted: string): string {
    let name = wanted
    let n = this.#next.get(wanted) ?? 2
    for (; name === '' || this.#taken.has(name); n += 1) name = `${wanted}~${n}`
    this.#next.set(wanted, n)
    this.#taken.add(name)
    return name
  }
}
