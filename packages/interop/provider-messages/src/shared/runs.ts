/** Neighbours that belong together. */
export type Run<Item> = [first: Item, ...rest: Item[]]

/** The longest runs of neighbours that belong together, in order; `belong` sees a run's first item and a candidate. */
export function runs<Item>(items: Iterable<Item>, belong: (first: Item, next: Item) => boolean): Run<Item>[] {
  const found: Run<Item>[] = []
  for (const item of items) {
    const last = found.at(-1)
    if (last !== undefined && belong(last[0], item)) last.push(item)
    else found.push([item])
  }
  return found
}
