import { clip, pad, padStart, widthOf } from './text.ts'
import type { Style } from './style.ts'

export interface Column<Row> {
  readonly title: string
  readonly align?: 'right'
  /** Columns of the terminal that it takes at most. */
  readonly max?: number
  /** Unformatted text of a cell. */
  readonly text: (row: Row) => string
  /** Formats the padded cell. */
  readonly paint?: (text: string, row: Row) => string
}

/** Rows in columns; the last column takes what is left of `columns`. */
export function table<Row>(
  rows: readonly Row[],
  layout: readonly Column<Row>[],
  columns: number,
  style: Style,
): string {
  const cells = rows.map((row) => layout.map((column) => column.text(row)))
  const widths = layout.map(({ title, max = Infinity }, at) =>
    Math.min(max, Math.max(widthOf(title), ...cells.map((row) => widthOf(row[at] ?? '')))),
  )
  const last = layout.length - 1
  const taken = widths.slice(0, last).reduce((sum, width) => sum + width + 2, 0)
  widths[last] = Math.max(8, Math.min(widths[last] ?? 0, columns - taken))
  const line = (texts: readonly string[], paint: (text: string, at: number) => string): string =>
    texts
      .map((text, at) => {
        const width = widths[at] ?? 0
        const clipped = clip(text, width)
        const filled =
          layout[at]?.align === 'right' ? padStart(clipped, width) : at === last ? clipped : pad(clipped, width)
        return paint(filled, at)
      })
      .join('  ')
      .trimEnd()
  const head = line(
    layout.map(({ title }) => title),
    (text) => style('dim', text),
  )
  const body = rows.map((row, index) => line(cells[index] ?? [], (text, at) => layout[at]?.paint?.(text, row) ?? text))
  return `${[head, ...body].join('\n')}\n`
}
