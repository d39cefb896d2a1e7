import type { Command } from 'commander'
import { type Cli, type CommonOptions, command, print, sessionHelp } from '../cli.ts'
import type { PruneReport } from '../compact/prune.ts'
import { EXIT } from '../exit.ts'
import { wholeNumber } from '../numbers.ts'
import { bytes, count, oneLine, padStart } from '../render/text.ts'
import { resolveSession, withStore } from '../store.ts'

interface PruneCommandOptions extends CommonOptions {
  readonly preview?: true
  readonly maxBytes: string
  readonly keepRecent: string
  readonly images: string
  readonly imageBytes: string
}

/** `palimpsest prune`: old tool results keep head and tail, old images give way to a line. */
export function pruneCommand(cli: Cli): Command {
  return command({
    name: 'prune',
    summary: 'cut old tool results and images down, without a model',
    description:
      'Every tool result but the newest is cut to its head and tail, and the oldest images give way to a line each once there are more than may stay. What is replaced stays in the log. What there is nothing to do for stays as it is.',
    examples: [
      'palimpsest prune last --preview',
      'palimpsest prune 29ccd257 --max-bytes 1000 --keep-recent 8',
      'palimpsest prune 29ccd257 --images 10 --json',
    ],
  })
    .argument('<session>', sessionHelp)
    .option('--preview', 'write nothing; show what would be done')
    .option('--max-bytes <n>', 'bytes of text that an old tool result may keep', '4096')
    .option('--keep-recent <n>', 'newest tool results that stay whole', '4')
    .option('--images <n>', 'images that may stay', '80')
    .option('--image-bytes <n>', 'bytes of images that may stay, all together', String(16 * 1024 * 1024))
    .action(async (name: string, options: PruneCommandOptions) => {
      const settings = {
        isPreview: options.preview === true,
        maxBytes: wholeNumber('--max-bytes', options.maxBytes),
        keepRecent: wholeNumber('--keep-recent', options.keepRecent),
        images: wholeNumber('--images', options.images),
        imageBytes: wholeNumber('--image-bytes', options.imageBytes),
      }
      await withStore(cli, options, async (store) => {
        // Loaded here, so that no other command waits for it.
        const { pruneStored } = await import('../compact/prune.ts')
        const report = await pruneStored(store, await resolveSession(store, name), settings)
        print(cli, options, pruneJson(report), () => render(cli, report))
        if (report.images.kind === 'over') cli.end(EXIT.finding)
      })
    })
}

/** Seqs that only a preview would give are left out. */
function pruneJson({ id, preview, images, results }: PruneReport): object {
  const seen = ({ by, ...replaced }: PruneReport['results']['replaced'][number]): object =>
    preview ? replaced : { ...replaced, by }
  const { replaced, before, after } = images
  return {
    id,
    preview,
    results: {
      bytesBefore: results.bytesBefore,
      bytesAfter: results.bytesAfter,
      replaced: results.replaced.map(seen),
    },
    images: { before, after, replaced: replaced.map(seen), pinned: images.kind === 'over' ? images.pinned : [] },
  }
}

function render({ style }: Cli, { id, preview, images, results }: PruneReport): string {
  const name = style('bold', oneLine(id))
  const all = [
    ...images.replaced.map((replaced) => ({ ...replaced, what: 'images' })),
    ...results.replaced.map((replaced) => ({ ...replaced, what: 'result' })),
  ]
  const verb = preview ? 'would be' : 'were'
  const lines =
    all.length === 0
      ? [`${name}: nothing to prune`]
      : [
          `${name}: ${count(results.replaced.length, 'tool result')} and images of ${count(images.replaced.length, 'entry')} ${verb} cut`,
          `  text of results  ${bytes(results.bytesBefore)}, then ${bytes(results.bytesAfter)}`,
          `  images           ${images.before.images} of ${bytes(images.before.bytes)}, then ${images.after.images} of ${bytes(images.after.bytes)}`,
        ]
  const width = Math.max(0, ...all.map(({ seq }) => String(seq).length))
  for (const { seq, by, what, bytesBefore, bytesAfter } of all) {
    const place = preview ? '' : ` by ${by}`
    lines.push(
      style('dim', `  ${padStart(String(seq), width)}${place}  ${what}  ${bytes(bytesBefore)} → ${bytes(bytesAfter)}`),
    )
  }
  if (images.kind === 'over') {
    const held = images.pinned.map(({ seq, reason }) => `${seq} (${reason})`).join(', ')
    lines.push(`${style('yellow', 'still over the images that may stay')}: ${held}`)
  }
  if (preview && all.length > 0) lines.push(style('dim', 'nothing was written'))
  return `${lines.join('\n')}\n`
}
