import type { TurnResult } from '@palimpsest/agent-loop'
import type { Command } from 'commander'
import type { ConversationOptions } from '../chat/conversation.ts'
import type { TextListener } from '../chat/live-text.ts'
import { modelHelp, openModel } from '../chat/models.ts'
import { type Cli, type CommonOptions, command, sessionHelp } from '../cli.ts'
import { CliError, EXIT } from '../exit.ts'
import { wholeNumber } from '../numbers.ts'
import { outcomeLine } from '../render/compacted.ts'
import { argument, bytes, count, oneLine } from '../render/text.ts'
import { resolveSession, withStore } from '../store.ts'

interface ChatOptions extends CommonOptions {
  readonly model: string
  readonly system?: string
  readonly baseUrl?: string
  readonly contextWindow: string
}

/** `palimpsest chat`: the agent loop on a session of the store, a turn per line. */
export function chatCommand(cli: Cli): Command {
  return command({
    name: 'chat',
    summary: 'talk to a model; the session is the log of it',
    description:
      'Reads lines from the input and sends each as a turn; the answer is written as it comes, and every event is on the disk before its effect. Goes on with a session, or begins a new one. Ctrl-C ends the turn, a second one the conversation. The key comes from the environment, such as ANTHROPIC_API_KEY.',
    examples: [
      'palimpsest chat --model anthropic/claude-sonnet-4-5',
      'palimpsest chat last --model openai/gpt-5',
      "echo 'Say hello.' | palimpsest chat --model deepseek/deepseek-chat --system 'Be brief.'",
      'palimpsest chat --model compatible/qwen3 --base-url http://127.0.0.1:11434/v1',
    ],
  })
    .argument('[session]', `the session to go on with; a new one unless given. ${sessionHelp}`)
    .requiredOption('--model <provider/model>', modelHelp)
    .option('--system <text>', "the system prompt; the session's own unless given")
    .option('--base-url <url>', "address of the provider's server, where it is not the usual one")
    .option('--context-window <tokens>', 'tokens of the model: old entries are summarised before it is full', '128000')
    .action(async (name: string | undefined, options: ChatOptions) => {
      const contextWindow = wholeNumber('--context-window', options.contextWindow)
      if (contextWindow === 0) throw new CliError('option/invalid', '--context-window is 0: expected at least 1 token')
      const model = await openModel(cli.io, options.model, options.baseUrl)
      await withStore(cli, options, async (store) => {
        const id = name === undefined ? undefined : await resolveSession(store, name)
        cli.progress.done()
        // Loaded here, so that no other command waits for it.
        const [{ openConversation }, { talk }, { LiveText }] = await Promise.all([
          import('../chat/conversation.ts'),
          import('../chat/talk.ts'),
          import('../chat/live-text.ts'),
        ])
        const isQuiet = options.json === true
        const listener = new LiveText(isQuiet ? () => undefined : cli.io.stdout)
        const notes = new Notes(cli, listener)
        const conversation = await openConversation(store, {
          model,
          id,
          system: options.system,
          contextWindow,
          listener,
          onCompaction: notes.onCompaction,
          onPruning: notes.onPruning,
        })
        try {
          notes.opening(conversation.session.id, id === undefined)
          const turns = await talk(cli.io, conversation, notes)
          if (turns.some(({ reason }) => reason.kind === 'error')) cli.end(EXIT.finding)
          if (isQuiet) cli.io.stdout(`${JSON.stringify({ id: conversation.session.id, turns }, null, 2)}\n`)
          else notes.ending(conversation.session.id, conversation.session.length)
        } finally {
          await conversation.close()
        }
      })
    })
}

/** What is said beside the answers: on stderr, so that a pipe gets the answers alone. */
class Notes implements Pick<ConversationOptions, 'onCompaction' | 'onPruning'> {
  readonly #cli: Cli
  readonly #answer: Pick<TextListener, 'end'>

  constructor(cli: Cli, answer: Pick<TextListener, 'end'>) {
    this.#cli = cli
    this.#answer = answer
  }

  readonly onCompaction: ConversationOptions['onCompaction'] = (outcome) => {
    const line = outcomeLine(outcome)
    if (line !== undefined) this.#say(line)
  }

  readonly onPruning: ConversationOptions['onPruning'] = ({ results, images }) => {
    const entries = (results?.replaced.length ?? 0) + (images?.replaced.length ?? 0)
    if (entries === 0) return
    const freed = [...(results?.replaced ?? []), ...(images?.replaced ?? [])]
    const size = freed.reduce((sum, { bytesBefore, bytesAfter }) => sum + bytesBefore - bytesAfter, 0)
    this.#say(`pruned ${count(entries, 'entry')}: ${bytes(size)} less`)
  }

  opening(id: string, isNew: boolean): void {
    if (this.#cli.io.isStderrTty) this.#say(`${isNew ? 'new session' : 'session'} ${id}; Ctrl-D ends`)
  }

  ending(id: string, events: number): void {
    if (events > 0) this.#say(`palimpsest show ${argument(id)}`)
  }

  ready(): void {
    if (this.#cli.io.isStderrTty) this.#cli.io.stderr('> ')
  }

  aborting(): void {
    this.#answer.end()
    this.#say('ending the turn; Ctrl-C once more ends the conversation')
  }

  turn({ reason }: TurnResult): void {
    this.#answer.end()
    if (reason.kind === 'completed' || reason.kind === 'aborted') return
    const failure = reason.kind === 'error' ? (reason.failure as { code?: unknown; message?: unknown } | undefined) : {}
    const why =
      reason.kind === 'error'
        ? `${String(failure?.code)}: ${String(failure?.message)}`
        : `the turn ended: ${reason.kind}`
    this.#cli.io.stderr(`palimpsest: ${oneLine(why)}\n`)
  }

  #say(text: string): void {
    this.#cli.io.stderr(`${oneLine(text)}\n`)
  }
}
