import { toMarkdown } from '@palimpsest/provider-messages'
import { type Session, stringifyEvent, stringifyHeader } from '@palimpsest/session'
import type { TranscriptExport } from '@palimpsest/transcripts'
import { type Command, Option } from 'commander'
import { loadImages } from '../attachments.ts'
import { type Cli, type CommonOptions, command, sessionHelp } from '../cli.ts'
import {
  type AgentFormat,
  type ProviderFormat,
  agentFormats,
  exportFile,
  exportTo,
  providerFormats,
} from '../exporting.ts'
import { count, printable } from '../render/text.ts'
import { readSession, withStore } from '../store.ts'

interface ExportOptions extends CommonOptions {
  readonly to: ProviderFormat | AgentFormat | 'markdown' | 'jsonl'
  readonly model?: string
  readonly history?: 'surface' | 'log'
}

function isIn<Format extends string>(formats: readonly Format[], format: string): format is Format {
  return (formats as readonly string[]).includes(format)
}

/** `palimpsest export`: a session on stdout, in the form of somebody else. */
export function exportCommand(cli: Cli): Command {
  return command({
    name: 'export',
    summary: 'write a session to stdout in the form of a provider, of another agent, or to read',
    description:
      'Writes the messages of a session as a request body for Anthropic Messages, OpenAI Chat Completions, OpenAI Responses or DeepSeek, as UI messages of the AI SDK, as a session file of another agent, as Markdown to read, or its whole log as JSON lines. What was changed or lost on the way is counted on stderr; --json prints all of it.',
    examples: [
      'palimpsest export last --to anthropic --model claude-sonnet-4-5 > request.json',
      'palimpsest export last --to openai-responses --model gpt-5',
      'palimpsest export last --to claude-code > session.jsonl',
      'palimpsest export last --to markdown --history log > session.md',
      'palimpsest export 29ccd257 --to jsonl > session.jsonl',
    ],
  })
    .argument('[session]', sessionHelp, 'last')
    .addOption(
      new Option('--to <format>', 'form of the export')
        .choices([...providerFormats, ...agentFormats, 'markdown', 'jsonl'])
        .makeOptionMandatory(),
    )
    .option(
      '--model <model>',
      'model the request goes to: signed reasoning goes back to the family that made it, and to no other',
    )
    .addOption(
      new Option('--history <what>', 'with markdown: what is on the surface, or what was replaced too').choices([
        'surface',
        'log',
      ]),
    )
    .action(async (name: string, options: ExportOptions) => {
      await withStore(cli, options, async (store) => {
        const { session } = await readSession(store, name)
        if (options.to === 'jsonl') {
          writeLog(cli, session, options.json === true)
          return
        }
        if (options.to === 'markdown') {
          writeMarkdown(cli, session, options)
          return
        }
        const image = await loadImages(session.events, store.attachments(session.id))
        const { to: format, model } = options
        if (isIn(agentFormats, format)) {
          writeFile(cli, format, exportFile(format, session, { attachment: image }), options.json === true)
          return
        }
        const { body, report } = exportTo(format, session, { image, ...(model === undefined ? {} : { model }) })
        cli.io.stdout(`${JSON.stringify(options.json === true ? { format, body, report } : body, null, 2)}\n`)
        if (options.json !== true && report.notes.length > 0) {
          cli.io.stderr(
            `palimpsest: ${count(report.notes.length, 'change')} on the way out: --json lists what they are\n`,
          )
        }
      })
    })
}

function writeMarkdown({ io }: Cli, session: Session, { history = 'surface', json }: ExportOptions): void {
  const text = toMarkdown(session, { history })
  if (json === true) io.stdout(`${JSON.stringify({ format: 'markdown', text }, null, 2)}\n`)
  else io.stdout(io.isStdoutTty ? printable(text) : text)
}

function writeFile({ io }: Cli, format: AgentFormat, { text, report }: TranscriptExport, isJson: boolean): void {
  if (isJson) {
    io.stdout(`${JSON.stringify({ format, text, report }, null, 2)}\n`)
    return
  }
  io.stdout(io.isStdoutTty ? printable(text) : text)
  const { losses } = report
  if (losses.length === 0) return
  const told = losses.map(({ code, count: times }) => `${times} ${code}`).join(', ')
  io.stderr(`palimpsest: not in the file: ${told}: --json says what they are\n`)
}

function writeLog({ io }: Cli, { header, events }: Session, isJson: boolean): void {
  if (isJson) {
    io.stdout(`${JSON.stringify({ format: 'jsonl', header, events }, null, 2)}\n`)
    return
  }
  io.stdout(`${stringifyHeader(header)}\n`)
  for (const event of events) io.stdout(`${stringifyEvent(event)}\n`)
}
