import {
  type CopiedFrom,
  type Message,
  type RequestHeader,
  type SessionEvent,
  copiedFrom,
  deriveEventMessage,
  foldSurface,
  reconstructRequest,
} from '@palimpsest/session'
import type { Command } from 'commander'
import { type Cli, type CommonOptions, command, print, sessionHelp } from '../cli.ts'
import { messageLines } from '../render/message.ts'
import { table } from '../render/table.ts'
import { count, moment, oneLine } from '../render/text.ts'
import { parseSeq, readSession, withStore } from '../store.ts'

/** `palimpsest request`: what a model was sent, exactly, from the log alone. */
export function requestCommand(cli: Cli): Command {
  return command({
    name: 'request',
    summary: 'show the exact request behind an answer',
    description:
      'Rebuilds the request behind an assistant message, an attempt or a request/start: the header in force and the messages as they were when it left. Without a seq it lists the requests of the session.',
    examples: ['palimpsest request last', 'palimpsest request last 42', 'palimpsest request 29ccd257 42 --json'],
  })
    .argument('[session]', sessionHelp, 'last')
    .argument('[seq]', 'seq of the assistant message, the attempt or the request/start')
    .action(async (name: string, seqText: string | undefined, options: CommonOptions) => {
      const { session } = await withStore(cli, options, (store) => readSession(store, name))
      const { events } = session
      if (seqText === undefined) {
        const requests = requestsOf(events)
        print(cli, options, { requests }, () => renderList(cli, requests))
        return
      }
      const request = { seq: parseSeq(seqText, events), ...reconstructRequest(events, parseSeq(seqText, events)) }
      print(cli, options, request, () => render(cli, request))
    })
}

interface RequestRow {
  readonly seq: number
  readonly time: number
  readonly turn: number
  readonly step: number
  readonly attempt: number
  readonly model?: string
  readonly messages: number
  /** The assistant message or attempt that came of it. */
  readonly answer?: { readonly seq: number; readonly type: string }
  /** Where the real request is, when an undo copied it. */
  readonly copiedFrom?: CopiedFrom
}

/** One pass, so that a long log of many requests is listed at once. */
function requestsOf(events: readonly SessionEvent[]): RequestRow[] {
  const answers = answersOf(events)
  const sizes = messageCounts(events)
  const rows: RequestRow[] = []
  let model: string | undefined
  for (const event of events) {
    if (event.type === 'request/header') model = event.data.header.config.model
    if (event.type !== 'request/start') continue
    const { turn, step, attempt, throughSeq } = event.data
    const answer = answers.get(event.seq)
    const copied = copiedFrom(event)
    rows.push({
      seq: event.seq,
      time: event.time,
      turn,
      step,
      attempt,
      ...(model === undefined ? {} : { model }),
      messages: sizes[throughSeq] ?? 0,
      ...(answer === undefined ? {} : { answer }),
      ...(copied === undefined ? {} : { copiedFrom: copied }),
    })
  }
  return rows
}

function answersOf(events: readonly SessionEvent[]): Map<number, { readonly seq: number; readonly type: string }> {
  const answers = new Map<number, { readonly seq: number; readonly type: string }>()
  for (const { type, seq, data } of events) {
    if (type !== 'assistant/message' && type !== 'assistant/attempt') continue
    if (data.requestSeq !== undefined) answers.set(data.requestSeq, { seq, type })
  }
  return answers
}

/** By seq, how many messages were derived right after it. */
function messageCounts(events: readonly SessionEvent[]): number[] {
  const shadowed = new Map(foldSurface(events).replacements.map(({ seq, shadowedSeqs }) => [seq, shadowedSeqs]))
  const speaks = (event: SessionEvent | undefined): boolean => event !== undefined && deriveEventMessage(event) !== null
  let count = 0
  return events.map((event) => {
    count += Number(speaks(event))
    for (const seq of shadowed.get(event.seq) ?? []) count -= Number(speaks(events[seq]))
    return count
  })
}

function renderList({ io, style }: Cli, requests: readonly RequestRow[]): string {
  if (requests.length === 0) {
    return 'No request is recorded in this log: it was imported, or written by hand.\n'
  }
  const rows = table(
    requests,
    [
      { title: 'seq', align: 'right', text: ({ seq }) => String(seq), paint: (text) => style('bold', text) },
      { title: 'time (UTC)', text: ({ time }) => moment(time), paint: (text) => style('dim', text) },
      { title: 'turn', align: 'right', text: ({ turn }) => String(turn) },
      { title: 'step', align: 'right', text: ({ step }) => String(step) },
      { title: 'attempt', align: 'right', text: ({ attempt }) => String(attempt) },
      { title: 'messages', align: 'right', text: ({ messages }) => String(messages) },
      { title: 'answer', text: ({ answer }) => (answer === undefined ? 'none' : `${answer.seq} ${answer.type}`) },
      {
        title: 'model',
        text: ({ model, copiedFrom: copied }) => oneLine(`${model ?? ''}${copied === undefined ? '' : ` (copied)`}`),
      },
    ],
    io.columns,
    style,
  )
  return `${rows}${style('dim', count(requests.length, 'request'))}\n`
}

function render(
  { io, style }: Cli,
  { header, messages }: { readonly header: RequestHeader; readonly messages: readonly Message[] },
): string {
  const { provider, model, ...settings } = header.config
  const tools =
    (header.tools ?? [])
      .map((tool) => oneLine(typeof tool['name'] === 'string' ? tool['name'] : '(nameless)'))
      .join(', ') || 'none'
  const facts = [
    ...Object.entries(settings).map(([name, value]) => `${name}: ${JSON.stringify(value)}`),
    `tools: ${tools}`,
  ]
  const lines = [
    style('bold', oneLine(`${provider} ${model}`)),
    ...facts.map((fact) => style('dim', `  ${oneLine(fact)}`)),
    '',
    '',
  ]
  return `${lines.join('\n')}${messageLines(messages, io.columns, style)}`
}
