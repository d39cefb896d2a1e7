import { type SessionEvent, foldSurface } from '@palimpsest/session'
import { eventLine, markOf, standingOf } from '../render/event.ts'
import type { Style } from '../render/style.ts'
import { clip, count, pad, padStart } from '../render/text.ts'

/** The log on the left, what the model sees of it on the right. `from` skips the beginning of the log. */
export function sideBySide(events: readonly SessionEvent[], columns: number, style: Style, from = 0): string {
  const standing = standingOf(events)
  const { nodes } = foldSurface(events)
  const left = Math.floor((columns - 3) * 0.56)
  const right = columns - 3 - left
  const logRows = events.slice(from).map((event) => {
    const mark = markOf(event, standing)
    const text = pad(
      clip(`${mark} ${padStart(String(event.seq), 3)}  ${pad(event.type, 17)} ${eventLine(event)}`, left),
      left,
    )
    if (mark === '●') return `${style('green', mark)}${text.slice(1)}`
    return mark === '○' ? `${style('yellow', mark)}${style('dim', text.slice(1))}` : style('dim', text)
  })
  const surfaceRows = nodes.map((seq) => {
    const event = events[seq]
    const covered = standing.covers.get(seq)
    const note = covered === undefined ? '' : `⟵ ${count(covered, 'entry')}  `
    const text = event === undefined ? '' : eventLine(event)
    return `${style('green', '●')} ${padStart(String(seq), 3)}  ${style('yellow', note)}${clip(text, right - 7 - note.length)}`
  })
  const heads = [
    pad(clip(`log: ${count(events.length, 'event')}, all kept`, left), left),
    clip(`surface: the ${count(nodes.length, 'entry')} that the model sees`, right),
  ]
  const rows = Array.from({ length: Math.max(logRows.length, surfaceRows.length) }, (_, at) => {
    return `${logRows[at] ?? ' '.repeat(left)} ${style('dim', '│')} ${surfaceRows[at] ?? ''}`.trimEnd()
  })
  return `${style('dim', `${heads[0]} │ ${heads[1]}`)}\n${rows.join('\n')}\n`
}
