import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TurnResult } from '@palimpsest/agent-loop'
import type { SessionEvent } from '@palimpsest/session'
import { jsonlPersistence } from '@palimpsest/session-persistence-jsonl'
import type { Command } from 'commander'
import { type Cli, type CommonOptions, command, print } from '../cli.ts'
import type { Ending, EndingListener } from '../demo/ending.ts'
import { sideBySide } from '../demo/side-by-side.ts'
import { type Crash, type Imported, type Stage, crashDemo, importDemo } from '../demo/story.ts'
import type { WriterLine } from '../demo/writer.ts'
import { CliError } from '../exit.ts'
import { eventLine } from '../render/event.ts'
import type { Style } from '../render/style.ts'
import { count, oneLine, padStart, wrap } from '../render/text.ts'

/** `palimpsest demo`: what the library promises, before the reader's eyes. No network, nothing is left behind. */
export function demoCommand(cli: Cli): Command {
  return command({
    name: 'demo',
    summary: 'see in a few seconds what a session survives',
    description:
      'Imports a made-up transcript, kills an agent in the middle of a tool call, recovers and goes on, compacts, and proves every request and the replay from the log. The model is scripted: needs no network; works in a temporary directory and removes it.',
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

async function play(cli: Cli, options: CommonOptions, stage: Stage): Promise<void> {
  const tell = new Teller(cli, options.json === true)
  tell.opening()
  const imported = await importDemo(stage)
  tell.imported(imported)
  tell.log(imported.events)
  tell.startWriter()
  const crash = await crashDemo(stage, imported.id, (line) => tell.writer(line))
  tell.crashed(crash)
  // Loaded here, so that no other command waits for the loop.
  const { endDemo } = await import('../demo/ending.ts')
  const given = crash.said.flatMap((line) => ('request' in line ? [line.request] : []))
  const ending = await endDemo(stage, imported.id, given, tell)
  tell.compacted(ending)
  tell.proved(ending)
  tell.undone(ending)
  const isRebuilt = ending.rebuilt === ending.requests && ending.sawUnknown
  if (!isRebuilt || ending.live !== ending.replayed || !ending.isSound || !ending.undone.isSound)
    throw new CliError('demo/failed', 'what came out of the log is not what went in')
  if (options.json === true) print(cli, options, toJson(imported, crash, ending), () => '')
}

function toJson({ id, report }: Imported, { said, events: durable }: Crash, ending: Ending): object {
  const { events, messages, calls, answered } = report
  const { compaction, covers, origins: standsFor, undone } = ending
  const { replacementSeq: seq, tokensBefore, tokensAfter } = compaction
  return {
    session: id,
    import: { events, messages, calls, answered },
    crash: {
      acknowledged: acknowledgedOf(said).length,
      durable: durable.length,
      closers: ending.closers.length,
      sawUnknown: ending.sawUnknown,
    },
    requests: { sent: ending.requests, rebuilt: ending.rebuilt },
    compaction: { seq, covers, standsFor, tokensBefore, tokensAfter },
    replay: { live: ending.live, disk: ending.replayed, sound: ending.isSound },
    undo: {
      session: undone.id,
      messagesBefore: ending.messages,
      messagesAfter: undone.messages,
      sound: undone.isSound,
    },
  }
}

function acknowledgedOf(said: readonly WriterLine[]): { readonly seq: number; readonly type: string }[] {
  return said.flatMap((line) => ('durable' in line ? [line.durable] : []))
}

/** Tells the story on stdout, or keeps quiet. */
class Teller implements EndingListener {
  readonly #cli: Cli
  readonly #isQuiet: boolean
  #chapters = 0
  #isGoingOn = false

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
      this.#row(`line ${padStart(String(line), 2)}  `, `${code}: ${message}`, 'dim')
  }

  log(events: readonly SessionEvent[]): void {
    this.#chapter('The log, and the surface beside it')
    this.#say('● stands on the surface, ○ was written over and stays in the log, · is in the log only.')
    this.#write(`\n${sideBySide(events, this.#cli.io.columns, this.#cli.style)}`)
  }

  startWriter(): void {
    this.#chapter('An agent is killed in the middle of a tool call')
    this.#say(
      'A second process runs the agent loop on the session, on a scripted model. What is durable is named after it is on the disk, and before anything is done because of it.',
    )
    this.#line('')
  }

  writer(line: WriterLine): void {
    const { style } = this.#cli
    if ('durable' in line)
      this.#line(`  ${style('green', 'durable')} ${padStart(String(line.durable.seq), 3)}  ${line.durable.type}`)
    else if ('request' in line)
      this.#line(`  ${style('cyan', 'model')}        is asked, with everything above on the disk`)
    else this.#line(`  ${style('yellow', 'running')}      ${oneLine(line.running)}`)
  }

  crashed({ pid, refusal, events, said, pendingClosers }: Crash): void {
    this.#row('refused      ', refusal, 'yellow')
    this.#row('SIGKILL      ', `process ${pid} is gone, without a word`, 'red')
    this.#say(
      `\nEvent ${acknowledgedOf(said).at(-1)?.seq ?? '-'} was the last that was acknowledged, and the log ends with event ${events.length - 1}. The call has no answer: every provider would refuse these messages. ${count(pendingClosers.length, 'closing event')} will mend that.`,
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

  turn(prompt: string, { text, steps, reason }: TurnResult): void {
    if (!this.#isGoingOn) {
      this.#isGoingOn = true
      this.#chapter('The loop goes on in this process')
      this.#say('The model reads that nobody knows how the call ended, so it looks before it does anything twice.')
    }
    this.#line('')
    this.#row('user   ', oneLine(prompt), 'bold')
    this.#row('model  ', `${oneLine(text)} (${count(steps, 'step')}, ${reason.kind})`, 'bold')
  }

  compacted({ compaction, covers, origins, events }: Ending): void {
    this.#chapter('The session had outgrown its budget')
    this.#say(
      `Before the last turn it was compacted, offline: one ordinary user/message, event ${compaction.replacementSeq}, takes the place of ${covers} surface entries and names each of them; ${compaction.tokensBefore} tokens became ${compaction.tokensAfter}. One of those was a summary itself, so it stands for ${origins} first events. All of them are still in the log.`,
    )
    this.#write(`\n${sideBySide(events, this.#cli.io.columns, this.#cli.style, Math.max(0, events.length - 24))}`)
  }

  proved({ live, replayed, isSound, rebuilt, requests }: Ending): void {
    const { style } = this.#cli
    const verdict = (isGood: boolean, good: string, bad: string): string =>
      isGood ? style('green', good) : style('red', bad)
    this.#chapter('The log is the proof')
    this.#say(
      'Each prompt that a model was given, by either process, against the one that the log alone gives; then the messages as another process reads them from disk.',
    )
    this.#line('')
    this.#line(
      `  requests   ${verdict(rebuilt === requests, `${rebuilt} of ${requests} requests rebuilt from the log`, `only ${rebuilt} of ${requests} requests rebuilt from the log`)}`,
    )
    this.#line(`  here       ${live}`)
    this.#line(`  from disk  ${replayed}  ${verdict(live === replayed, 'the same bytes', 'different')}`)
    const soundness = isSound ? 'sound: every rule holds, and every provider takes the messages' : 'not sound'
    this.#row('verify     ', soundness, isSound ? 'green' : 'red')
  }

  undone({ undone, messages }: Ending): void {
    this.#chapter('The compaction is undone')
    this.#say(
      `A new session in which it never happened, later turns and all: ${count(undone.messages, 'message')} in the place of ${messages}. The old one stays as it is.`,
    )
    this.#say('\nNow your own files: palimpsest import finds your agents’ sessions and only reads them.')
  }

  #chapter(title: string): void {
    this.#chapters += 1
    this.#line(`\n${this.#cli.style('cyan', String(this.#chapters))}  ${this.#cli.style('bold', title)}`)
  }

  #say(text: string): void {
    for (const line of wrap(text, Math.min(92, this.#cli.io.columns))) this.#line(line)
  }

  /** A name, and beside it what is said of it. */
  #row(name: string, text: string, format: Parameters<Style>[0]): void {
    const left = name.length + 2
    for (const [index, line] of wrap(text, this.#cli.io.columns - left).entries())
      this.#line(index > 0 ? `${' '.repeat(left)}${line}` : `  ${this.#cli.style(format, name)}${line}`)
  }

  #line(text: string): void {
    this.#write(`${text}\n`)
  }

  #write(text: string): void {
    if (!this.#isQuiet) this.#cli.io.stdout(text)
  }
}
