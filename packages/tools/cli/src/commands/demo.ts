import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { SessionEvent } from '@palimpsest/session'
import { jsonlPersistence } from '@palimpsest/session-persistence-jsonl'
import type { Command } from 'commander'
import { type Cli, type CommonOptions, command, print } from '../cli.ts'
import { sideBySide } from '../demo/side-by-side.ts'
import { type Crash, type Ending, type Imported, type Stage, crashDemo, endDemo, importDemo } from '../demo/story.ts'
import { CliError } from '../exit.ts'
import { eventLine } from '../render/event.ts'
import { count, padStart, wrap } from '../render/text.ts'

/** `palimpsest demo`: what the library promises, before the reader's eyes. No network, nothing is left behind. */
export function demoCommand(cli: Cli): Command {
  return command({
    name: 'demo',
    summary: 'see in a few seconds what a session survives',
    description:
      'Imports a made-up transcript, kills a writer in the middle of a tool call, recovers, compacts by hand, and proves the replay. Needs no network; works in a temporary directory and removes it.',
    examples: ['palimpsest demo', 'palimpsest demo --json'],
  }).action(async (options: CommonOptions) => {
    const scratch = await mkdtemp(join(tmpdir(), 'palimpsest-demo-'))
    const root = join(scratch, 'sessions')
    const store = jsonlPersistence({ root })
    try {
      await play(cli, options, { io: cli.io, store, root, scratch })
    } finally {
      await store.close()
      await rm(scratch, { recursive: true, force: true })
    }
  })
}

const summary = 'Summary: the rain chart was fixed and its tests were started, but their result was lost in a crash.'

async function play(cli: Cli, options: CommonOptions, stage: Stage): Promise<void> {
  const tell = new Teller(cli, options.json === true)
  tell.opening()
  const imported = await importDemo(stage)
  tell.imported(imported)
  tell.log(imported.events)
  tell.startWriter()
  const crash = await crashDemo(stage, imported.id, (event) => tell.acknowledged(event))
  tell.crashed(crash)
  const ending = await endDemo(stage, imported.id, summary, (closers) => tell.recovered(closers))
  tell.compacted(ending)
  tell.proved(ending)
  if (ending.live !== ending.replayed || !ending.isSound)
    throw new CliError('demo/failed', 'the replay from disk is not what it should be')
  if (options.json === true) print(cli, options, toJson(imported, crash, ending), () => '')
}

function toJson({ id, report }: Imported, crash: Crash, ending: Ending): object {
  const { events, messages, calls, answered } = report
  return {
    session: id,
    import: { events, messages, calls, answered },
    crash: { acknowledged: crash.acknowledged.length, durable: crash.events.length, closers: ending.closers.length },
    compaction: { seq: ending.replacement.seq, covers: ending.covers, standsFor: ending.origins },
    replay: { live: ending.live, disk: ending.replayed, sound: ending.isSound },
  }
}

/** Tells the story on stdout, or keeps quiet. */
class Teller {
  readonly #cli: Cli
  readonly #isQuiet: boolean
  #chapters = 0

  constructor(cli: Cli, isQuiet: boolean) {
    this.#cli = cli
    this.#isQuiet = isQuiet
  }

  opening(): void {
    const { style } = this.#cli
    this.#line(style('bold', 'palimpsest demo'))
    this.#say(
      'A session is a log that is only ever added to. The surface is what the model sees of it now. Nothing below needs a network, and nothing is left behind.',
    )
  }

  imported({ report }: Imported): void {
    this.#chapter('A transcript of another agent comes in')
    this.#say(
      `It has a pasted image, two tools called at once, a compaction, and a last line that a crash cut off. Its ${count(report.lines.total, 'line')} became ${count(report.events, 'event')}, and ${report.answered} of its ${count(report.calls, 'call')} were answered. What has no place among the messages is kept as it stood.`,
    )
    for (const { line, code, message } of report.warnings)
      this.#line(`  ${this.#cli.style('dim', `line ${padStart(String(line), 2)}  ${code}: ${message}`)}`)
  }

  log(events: readonly SessionEvent[]): void {
    this.#chapter('The log, and the surface beside it')
    this.#say('● stands on the surface, ○ was written over and stays in the log, · is in the log only.')
    this.#write(`\n${sideBySide(events, this.#cli.io.columns, this.#cli.style)}`)
  }

  startWriter(): void {
    this.#chapter('A writer is killed in the middle of a tool call')
    this.#say('A second process goes on with the session. Each event is on the disk before it is named here.')
    this.#line('')
  }

  acknowledged({ seq, type }: Crash['acknowledged'][number]): void {
    const note =
      type === 'tool/call' ? this.#cli.style('dim', '   recorded before the tool runs: ./deploy.sh production') : ''
    this.#line(`  ${this.#cli.style('green', 'durable')} ${padStart(String(seq), 3)}  ${type}${note}`)
  }

  crashed({ pid, refusal, events, acknowledged, pendingClosers }: Crash): void {
    const { style } = this.#cli
    this.#line(`  ${style('yellow', 'refused')}      ${refusal}`)
    this.#line(`  ${style('red', 'SIGKILL')}      process ${pid} is gone, without a word`)
    this.#say(
      `\nEvent ${acknowledged.at(-1)?.seq ?? '-'} was the last that was acknowledged, and the log ends with event ${events.length - 1}. The call has no answer: every provider would refuse these messages. ${count(pendingClosers.length, 'closing event')} will mend that.`,
    )
  }

  recovered(closers: readonly SessionEvent[]): void {
    this.#chapter('The next writer recovers it')
    this.#say('Opening for write appends what is missing. Nothing is cut off, and no tool is run again.')
    this.#line('')
    for (const event of closers) {
      const code = event.type === 'tool/result' ? ` ${this.#cli.style('yellow', event.data.error?.code ?? '')}` : ''
      this.#line(`  ${this.#cli.style('green', 'appended')} ${padStart(String(event.seq), 3)}  ${event.type}${code}`)
      if (event.type !== 'tool/result') continue
      for (const line of wrap(eventLine(event), Math.min(88, this.#cli.io.columns - 16)))
        this.#line(this.#cli.style('dim', `${' '.repeat(15)}${line}`))
    }
  }

  compacted({ replacement, covers, origins, events }: Ending): void {
    this.#chapter('A range is compacted by hand')
    this.#say(
      `One ordinary user/message, event ${replacement.seq}, takes the place of ${covers} surface entries and names each of them. One of those was a summary itself, so it stands for ${origins} first events. All of them are still in the log.`,
    )
    this.#write(`\n${sideBySide(events, this.#cli.io.columns, this.#cli.style, Math.max(0, events.length - 14))}`)
  }

  proved({ live, replayed, isSound }: Ending): void {
    const { style } = this.#cli
    this.#chapter('Another process replays it from disk')
    this.#line(`  here       ${live}`)
    this.#line(
      `  from disk  ${replayed}  ${live === replayed ? style('green', 'the same bytes') : style('red', 'different')}`,
    )
    this.#line(
      `  verify     ${isSound ? style('green', 'sound: every rule holds, and both providers take the messages') : style('red', 'not sound')}`,
    )
    this.#line(
      `\nNow your own files: ${style('bold', 'palimpsest import')} finds your Claude Code sessions and only reads them.`,
    )
  }

  #chapter(title: string): void {
    this.#chapters += 1
    this.#line(`\n${this.#cli.style('cyan', String(this.#chapters))}  ${this.#cli.style('bold', title)}`)
  }

  #say(text: string): void {
    for (const line of wrap(text, Math.min(92, this.#cli.io.columns))) this.#line(line)
  }

  #line(text: string): void {
    this.#write(`${text}\n`)
  }

  #write(text: string): void {
    if (!this.#isQuiet) this.#cli.io.stdout(text)
  }
}
