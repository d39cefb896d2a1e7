import { deriveMessagesAt } from '@palimpsest/session'
import { type Command, Option } from 'commander'
import { loadImages } from '../attachments.ts'
import { type Cli, type CommonOptions, command, print, sessionHelp } from '../cli.ts'
import { type ProviderFormat, exportTo, providerFormats } from '../exporting.ts'
import { messageLines } from '../render/message.ts'
import { parseSeq, readSession, withStore } from '../store.ts'

interface MessagesOptions extends CommonOptions {
  readonly at?: string
  readonly format: 'derived' | 'openai' | ProviderFormat
}

/** `palimpsest messages`: what the model sees, as messages. */
export function messagesCommand(cli: Cli): Command {
  return command({
    name: 'messages',
    summary: 'show the messages that the model sees',
    description:
      'Derives the messages from the log, now or right after an event. With a provider as format they are in the form that it takes, as JSON.',
    examples: [
      'palimpsest messages last',
      'palimpsest messages last --at 120 --json',
      'palimpsest messages last --format anthropic > request.json',
    ],
  })
    .argument('[session]', sessionHelp, 'last')
    .option('--at <seq>', 'what the model saw right after this event')
    .addOption(
      new Option('--format <format>', 'form of the messages; openai is openai-chat')
        .choices(['derived', ...providerFormats, 'openai'])
        .default('derived'),
    )
    .action(async (name: string, options: MessagesOptions) => {
      await withStore(cli, options, async (store) => {
        const { session } = await readSession(store, name)
        const { events } = session
        const at = options.at === undefined ? events.length - 1 : parseSeq(options.at, events, -1)
        if (options.format === 'derived') {
          const messages = deriveMessagesAt(events, at)
          print(cli, options, { messages }, () => messageLines(messages, cli.io.columns, cli.style))
          return
        }
        const image = await loadImages(events, store.attachments(session.id))
        const format = options.format === 'openai' ? 'openai-chat' : options.format
        const { body, report } = exportTo(format, session, { image, at })
        cli.io.stdout(`${JSON.stringify(options.json === true ? { ...body, report } : body, null, 2)}\n`)
      })
    })
}
