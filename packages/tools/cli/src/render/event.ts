import { type EventOf, type SessionEvent, type SessionSeq, foldSurface, isSurfaceType } from '@palimpsest/session'
import { blockLine, contentLine } from './message.ts'
import { bytes, clip, count, oneLine, pad, padStart } from './text.ts'
import type { Style } from './style.ts'

/** Where each event of a log stands now: on the surface, under a replacement, or in the log only. */
export interface Standing {
  readonly surface: ReadonlySet<SessionSeq>
  /** By shadowed seq, the replacement that took it off the surface. */
  readonly shadowedBy: ReadonlyMap<SessionSeq, SessionSeq>
  /** By replacement, how many entries it took off the surface. */
  readonly covers: ReadonlyMap<SessionSeq, number>
}

export function standingOf(events: readonly SessionEvent[]): Standing {
  const { nodes, replacements } = foldSurface(events)
  return {
    surface: new Set(nodes),
    shadowedBy: new Map(
      replacements.flatMap(({ seq, shadowedSeqs }) => shadowedSeqs.map((shadowed) => [shadowed, seq] as const)),
    ),
    covers: new Map(replacements.map(({ seq, shadowedSeqs }) => [seq, shadowedSeqs.length])),
  }
}

/** One line that says what an event holds. */
export function eventLine(event: SessionEvent): string {
  switch (event.type) {
    case 'turn/start':
      return `turn ${event.data.turn}`
    case 'turn/end':
      return `turn ${event.data.turn}, ${event.data.reason.kind}`
    case 'step/start':
    case 'step/end':
      return `turn ${event.data.turn}, step ${event.data.step}`
    case 'user/message':
      return contentLine(event.data.content)
    case 'system/message':
    case 'assistant/message':
      return contentLine(event.data.message.content)
    case 'tool/result':
      return blockLine(event.data.message.content[0])
    case 'tool/call':
      return `${oneLine(event.data.name)}(${oneLine(event.data.arguments)})`
    case 'request/header':
      return `${oneLine(event.data.header.config.provider)} ${oneLine(event.data.header.config.model)}, ${event.data.reason}`
    case 'request/context': {
      const { provider, model, contextWindow } = event.data
      const window = contextWindow === undefined ? '' : `, context of ${count(contextWindow, 'token')}`
      return `${oneLine(provider)} ${oneLine(model)}${window}`
    }
    case 'request/start': {
      const { turn, step, attempt, throughSeq } = event.data
      return `turn ${turn}, step ${step}, attempt ${attempt}: the messages as of event ${throughSeq}`
    }
    case 'tool/progress':
    case 'tool/late-result':
      return `${oneLine(event.data.callId)}: ${contentLine(event.data.content)}`
    case 'compaction/start':
    case 'compaction/summary':
    case 'compaction/end':
      return compactionLine(event)
    case 'import/raw':
      return `line ${event.data.line}, ${event.data.reason}: ${oneLine(event.data.text.slice(0, 400))}`
    case 'salvage/raw':
      return `bytes ${event.data.start} to ${event.data.end}, ${event.data.reason}: ${oneLine(event.data.text.slice(0, 400))}`
    case 'salvage/missing':
      return `seq ${event.data.from} to ${event.data.to} of the damaged log`
    default:
      return oneLine(JSON.stringify((event as { data: unknown }).data).slice(0, 400))
  }
}

function compactionLine(event: EventOf<'compaction/start' | 'compaction/summary' | 'compaction/end'>): string {
  switch (event.type) {
    case 'compaction/start': {
      const { trigger, startSeq, endSeq, tokensBefore } = event.data
      if (trigger === undefined) return oneLine(event.data.compactionId)
      const size = tokensBefore === undefined ? '' : `, ${count(tokensBefore, 'token')}`
      return `${trigger}: entries ${startSeq} to ${endSeq}${size}`
    }
    case 'compaction/summary': {
      const { shadowedSeqs, tokensBefore, tokensAfter, model } = event.data
      const maker = model === undefined ? '' : `, by ${oneLine(model)}`
      if (tokensBefore === undefined)
        return `${count(shadowedSeqs.length, 'entry')}: ${count(event.data.shadowedTokenCount, 'token')}${maker}`
      return `${count(shadowedSeqs.length, 'entry')}: ${count(tokensBefore, 'token')} became ${count(tokensAfter, 'token')}${maker}`
    }
    default: {
      if ('turn' in event.data) return oneLine(JSON.stringify(event.data.error) ?? event.data.compactionId)
      const { replacementSeq, error } = event.data
      const what = replacementSeq === undefined ? 'nothing was replaced' : `replaced by event ${replacementSeq}`
      return error === undefined ? what : `${what}, ${oneLine(error.code)}: ${oneLine(error.message)}`
    }
  }
}

/** How an event stands, in a mark of two columns: `● ` on the surface, `○ ` shadowed, `· ` in the log only. */
export function markOf(event: SessionEvent, { surface }: Standing): string {
  if (!isSurfaceType(event.type)) return '·'
  return surface.has(event.seq) ? '●' : '○'
}

/** What a replacement covers, and what covers an event. */
function coverNote(event: SessionEvent, { shadowedBy, covers }: Standing): string {
  const covered = covers.get(event.seq)
  const above = shadowedBy.get(event.seq)
  return [covered === undefined ? '' : `covers ${covered}`, above === undefined ? '' : `under ${above}`]
    .filter((note) => note !== '')
    .join(', ')
}

export interface LineLayout {
  readonly columns: number
  readonly seqWidth: number
  readonly style: Style
}

/** An event in one line: mark, seq, type, what covers it, what it holds. */
export function eventRow(event: SessionEvent, standing: Standing, { columns, seqWidth, style }: LineLayout): string {
  const mark = markOf(event, standing)
  const note = coverNote(event, standing)
  const head = `${mark} ${padStart(String(event.seq), seqWidth)}  ${pad(clip(oneLine(event.type), 17), 17)}  `
  const noteText = note === '' ? '' : `[${note}] `
  const body = clip(eventLine(event), Math.max(12, columns - head.length - noteText.length))
  if (mark === '○') return `${style('yellow', mark)}${style('dim', `${head.slice(1)}${noteText}${body}`)}`
  if (mark === '·') return style('dim', `${head}${body}`)
  return `${style('green', mark)}${head.slice(1)}${style('yellow', noteText)}${body}`
}

/** Bytes of an event's payload as JSON, for people. */
export function payloadSize(event: SessionEvent): string {
  return bytes(Buffer.byteLength(JSON.stringify(event.data)))
}
