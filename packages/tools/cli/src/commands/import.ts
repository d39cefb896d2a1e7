import { stat } from 'node:fs/promises'
import type { SessionId } from '@palimpsest/session'
import type { SessionPersistence } from '@palimpsest/session-persistence'
import { fileSource, importTranscript } from '@palimpsest/transcripts'
import type { Command } from 'commander'
import { type Cli, type CommonOptions, command, print } from '../cli.ts'
import { CliError, EXIT, type ExitCode, type Failure, failureOf } from '../exit.ts'
import { type ListedSession, findSessions } from '../import/find.ts'
import { type Kept, keepImported } from '../import/keep.ts'
import { type ImportNote, importNotes } from '../import/notes.ts'
import { AttachmentSpool } from '../import/spool.ts'
import { foundJson, renderFound } from '../render/found.ts'
import { renderImported } from '../render/imported.ts'
import { oneLine } from '../render/text.ts'
import { withStore } from '../store.ts'

interface ImportOptions extends CommonOptions {
  readonly all?: true
  readonly again?: true
  readonly normalised?: true
}

/** One imported session as the command reports it. SPEC 9. */
export interface ImportEntry {
  readonly id: string
  /** File name, never a path. */
  readonly source: string
  readonly events: number
  readonly messages: number
  readonly calls: number
  readonly answered: number
  readonly warnings: readonly ImportNote[]
}

/** `palimpsest import`: session files of other agents become sessions of the store. */
export function importCommand(cli: Cli): Command {
  return command({
    name: 'import',
    summary: 'import session files of other agents',
    description:
      'Imports session files of Claude Code, Codex, pi and deepseek-harness, and JSON files of messages for OpenAI, Anthropic or the AI SDK, each told by what stands in it. Without a file it finds your own and lists them. The files are only read. What is here already is not imported twice; of a file that has grown, what is new is.',
    examples: [
      'palimpsest import                      # lists your own sessions of Claude Code, Codex and pi',
      'palimpsest import 29ccd257             # imports one of them',
      'palimpsest import --all',
      'palimpsest import ./session.jsonl --json',
      'palimpsest import ./messages.json',
    ],
  })
    .argument('[paths...]', 'session files, or begins of ids from the list')
    .option('--all', 'import every session of the list')
    .option('--again', 'import a file that differs from what is here beside it')
    .option('--normalised', 'read recorded fixtures of deepseek-harness, with placeholders and without times')
    .action(async (paths: readonly string[], options: ImportOptions) => {
      await withStore(cli, options, async (store) => {
        const find = (): Promise<ListedSession[]> => findSessions({ home: cli.io.home, env: cli.io.env })
        if (paths.length === 0 && options.all !== true) return listFound(cli, options, store, await find())
        const wanted = options.all === true ? (await find()).flatMap(filesOf) : []
        for (const path of paths) wanted.push(...(await resolveSource(path, find)))
        if (wanted.length === 0) throw nothingFound()
        await importAll(cli, options, store, wanted)
      })
    })
}

function filesOf({ path, agentPaths }: ListedSession): string[] {
  return [path, ...agentPaths]
}

function nothingFound(): CliError {
  return new CliError(
    'source/nothing',
    'no session of Claude Code, Codex or pi was found: name a session file, `palimpsest import FILE`',
  )
}

/** A path as it was typed, or the files of the found session that it is the begin of. */
async function resolveSource(path: string, find: () => Promise<ListedSession[]>): Promise<string[]> {
  const found = await stat(path).catch(() => undefined)
  // A pipe can be read once only, and an import reads its source more than once.
  if (found !== undefined && !found.isFile() && !found.isDirectory())
    throw new CliError('source/unreadable', `${path}: it is no regular file: save what it gives and import that`)
  if (found?.isFile() === true || /[/\\]|\.jsonl?$/.test(path)) return [path]
  const matches = (await find()).filter(({ sessionId }) => sessionId.startsWith(path))
  const [only, ...others] = matches
  if (only === undefined) return [path]
  if (others.length > 0)
    throw new CliError(
      'session/ambiguous',
      `${matches.length} of your sessions begin with ${path}: write more of the id`,
    )
  return filesOf(only)
}

async function listFound(
  cli: Cli,
  options: ImportOptions,
  store: SessionPersistence,
  found: readonly ListedSession[],
): Promise<void> {
  if (found.length === 0 && options.json !== true) throw nothingFound()
  const imported = new Set<string>()
  for (const { sessionId } of found)
    if ((await store.stat(sessionId as SessionId)) !== undefined) imported.add(sessionId)
  print(cli, options, foundJson(found, imported), () => renderFound(cli, found, imported))
}

async function importAll(
  cli: Cli,
  options: ImportOptions,
  store: SessionPersistence,
  paths: readonly string[],
): Promise<void> {
  const entries: (ImportEntry & Pick<Kept, 'status'>)[] = []
  const failures: Failure[] = []
  for (const [index, path] of paths.entries()) {
    cli.progress.show(`importing ${index + 1} of ${paths.length}`)
    try {
      for await (const entry of importOne(store, path, options)) entries.push(entry)
    } catch (error) {
      failures.push(failureOf(unreadable(path, error)))
    }
  }
  const sessions = entries.map(({ status: _, ...entry }): ImportEntry => entry)
  print(cli, options, { sessions }, () => renderImported(cli, entries))
  for (const { line } of failures) cli.io.stderr(`palimpsest: ${oneLine(line)}\n`)
  const exits = [
    ...failures.map(({ exit }) => exit),
    ...entries.map(({ status }) => (status === 'changed' ? EXIT.finding : EXIT.ok)),
  ]
  cli.end(exits.reduce((worst, exit) => (exit > worst ? exit : worst), EXIT.ok as ExitCode))
}

/** Errors of the file system name the path as it was typed, and no other. */
function unreadable(path: string, error: unknown): unknown {
  const { code, syscall } = (error ?? {}) as { code?: unknown; syscall?: unknown }
  if (typeof code !== 'string' || typeof syscall !== 'string') return error
  const why =
    {
      ENOENT: 'there is no such file',
      EISDIR: 'it is a directory: name the files in it',
      EACCES: 'you may not read it',
    }[code] ?? code
  return new CliError('source/unreadable', `${path}: ${why}`, { cause: error })
}

async function* importOne(
  store: SessionPersistence,
  path: string,
  { again, normalised }: ImportOptions,
): AsyncGenerator<ImportEntry & Pick<Kept, 'status'>> {
  const spool = new AttachmentSpool()
  const renamed = new Map<SessionId, SessionId>()
  for await (const { session, report } of importTranscript(fileSource(path), {
    attachments: (id) => spool.sink(id),
    normalised: normalised === true,
  })) {
    const kept = await keepImported(store, session, spool, { isAgain: again === true, renamed })
    const { source, events, messages, calls, answered } = report
    yield {
      id: kept.id,
      source,
      events,
      messages,
      calls,
      answered,
      warnings: importNotes(report, kept),
      status: kept.status,
    }
  }
}
