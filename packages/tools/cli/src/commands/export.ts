import { type Session, stringifyEvent, stringifyHeader } from '@palimpsest/session'
import { type Command, Option } from 'commander'
import { loadImages } from '../attachments.ts'
import { type Cli, type CommonOptions, command, sessionHelp } from '../cli.ts'
import { type ProviderFormat, exportTo, providerFormats } from '../exporting.ts'
import { count } from '../render/text.ts'
import { readSession, withStore } from '../store.ts'

interface ExportOptions extends CommonOptions {
  readonly to: ProviderFormat | 'jsonl'
  readonly model?: string
}

/** `palimpsest export`: a session on stdout, in the form of somebody else. */
export function exportCommand(cli: Cli): Command {
  return command({
    name: 'export',
    summary: 'write a session to stdout in the form of a provider',
    description:
      'Writes the messages of a session as a request body for Anthropic Messages, OpenAI Chat Completions, OpenAI Responses or DeepSeek, or its whole log as JSON lines. What was changed on the way is counted on stderr; --json prints all of it.',
    examples: [
      'palimpsest export last --to anthropic --model claude-sonnet-4-5 > request.json',
      'palimpsest export last --to openai-responses --model gpt-5',
      'palimpsest export 29ccd257 --to jsonl > session.jsonl',
    ],
  })
    .argument('[session]', sessionHelp, 'last')
    .addOption(
      new Option('--to <format>', 'form of the export').choices([...providerFormats, 'jsonl']).makeOptionMandatory(),
    )
    .option(
      '--model <model>',
      'model the request goes to: signed reasoning goes back to the family that made it, and to no other',
    )
    .action(async (name: string, options: ExportOptions) => {
      await withStore(cli, options, async (store) => {
        const { session } = await readSession(store, name)
        if (options.to === 'jsonl') {
          writeLog(cli, session, options.json === true)
          return
        }
        const image = await loadImages(session.events, store.attachments(session.id))
        const { to: format, model } = options
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

function writeLog({ io }: Cli, { header, events }: Session, isJson: boolean): void {
  if (isJson) {
    io.stdout(`${JSON.stringify({ format: 'jsonl', header, events }, null, 2)}\n`)
    return
  }
  io.stdout(`${stringifyHeader(header)}\n`)
  for (const event of events) io.stdout(`${stringifyEvent(event)}\n`)
}
