/** The longest runs of neighbours that belong together, in order. */
export function runs<Item>(items: Iterable<Item>, belong: (left: Item, right: Item) => boolean): Item[][] {
  const found: Item[][] = []
  for (const item of items) {
    const last = found.at(-1)
    const left = last?.at(-1)
    if (last !== undefined && left !== undefined && belong(left, item)) last.push(item)
    else found.push([item])
  }
  return found
}
