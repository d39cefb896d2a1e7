import type { RangeEnds } from '@palimpsest/compact'
import type { SessionId } from '@palimpsest/session'
import type { SessionPersistence } from '@palimpsest/session-persistence'
import { type Command, Option } from 'commander'
import { type Cli, type CommonOptions, command, print, sessionHelp } from '../cli.ts'
import { undoStored } from '../compact/undo.ts'
import { CliError, EXIT } from '../exit.ts'
import { wholeNumber } from '../numbers.ts'
import { compactJson, renderCompacted } from '../render/compacted.ts'
import { argument, count, oneLine } from '../render/text.ts'
import { parseSeq, readStored, resolveSession, withStore } from '../store.ts'

interface CompactOptions extends CommonOptions {
  readonly preview?: true
  readonly range?: string
  readonly undo?: string
  readonly keepRecent: string
  readonly summarizer: string
  readonly baseUrl?: string
}

/** `palimpsest compact`: a summary takes the place of old entries, and can be undone. */
export function compactCommand(cli: Cli): Command {
  return command({
    name: 'compact',
    summary: 'put a summary in the place of old entries, or undo that',
    description:
      'Replaces a balanced range of surface entries with a summary of them; the entries stay in the log. Unless a model is named the summary is an extract of the texts, made offline. What is refused changes nothing. --undo makes a new session in which the compaction never happened.',
    examples: [
      'palimpsest compact last --preview',
      'palimpsest compact 29ccd257 --range 12..80',
      'palimpsest compact 29ccd257 --summarizer anthropic/claude-sonnet-4-5   # needs ANTHROPIC_API_KEY',
      'palimpsest compact 29ccd257 --undo 131',
    ],
  })
    .argument('<session>', sessionHelp)
    .option('--preview', 'write nothing; show what would be done, or why not')
    .option('--range <start..end>', 'seqs of the first and the last surface entry to cover, instead of a planned range')
    .addOption(
      new Option(
        '--undo <id-or-seq>',
        'undo the compaction of this id, or with this replacement, in a new session',
      ).conflicts(['preview', 'range', 'keepRecent', 'summarizer', 'baseUrl']),
    )
    .option('--keep-recent <tokens>', 'tokens at the end that stay as they are', '20000')
    .option('--summarizer <name>', '`extract`, or a model as provider/model', 'extract')
    .option('--base-url <url>', "address of the model's provider, where it is not the usual one")
    .action(async (name: string, options: CompactOptions) => {
      await withStore(cli, options, (store) =>
        options.undo === undefined ? compact(cli, store, name, options) : undo(cli, store, name, options, options.undo),
      )
    })
}

async function compact(cli: Cli, store: SessionPersistence, name: string, options: CompactOptions): Promise<void> {
  const id = await resolveSession(store, name)
  const settings = {
    isPreview: options.preview === true,
    range: options.range === undefined ? undefined : await rangeOf(store, id, options.range),
    keepRecent: wholeNumber('--keep-recent', options.keepRecent),
    summarizer: options.summarizer,
    baseUrl: options.baseUrl,
  }
  // Loaded here, so that no other command waits for it.
  const { compactStored } = await import('../compact/compact.ts')
  const report = await compactStored(store, cli.io, id, settings)
  print(cli, options, compactJson(report), () => renderCompacted(cli, report))
  if (report.outcome.kind !== 'compacted') cli.end(EXIT.finding)
}

async function rangeOf(store: SessionPersistence, id: SessionId, text: string): Promise<RangeEnds> {
  const [start = '', end = '', ...rest] = text.split('..')
  if (start === '' || end === '' || rest.length > 0) {
    throw new CliError('option/invalid', `--range is ${JSON.stringify(text)}: expected START..END, such as 12..80`)
  }
  const { events } = await readStored(store, id)
  return { startSeq: parseSeq(start, events), endSeq: parseSeq(end, events) } as RangeEnds
}

async function undo(
  cli: Cli,
  store: SessionPersistence,
  name: string,
  options: CompactOptions,
  compaction: string,
): Promise<void> {
  const undone = await undoStored(store, name, compaction)
  print(cli, options, undone, () => {
    const { id, parentSession, messages } = undone
    return [
      `${cli.style('bold', oneLine(id))} is ${oneLine(parentSession)} without that compaction: ${count(messages, 'message')}`,
      cli.style('dim', `palimpsest diff ${argument(parentSession)} ${argument(id)}`),
      '',
    ].join('\n')
  })
}
