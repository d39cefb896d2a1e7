import type { Finding, SessionId } from '@palimpsest/session'
import type { SessionPersistence } from '@palimpsest/session-persistence'
import type { Command } from 'commander'
import { checkSession } from '../checks/session.ts'
import { findUnlisted } from '../checks/unlisted.ts'
import { type Cli, type CommonOptions, command, print, sessionHelp } from '../cli.ts'
import { CliError, EXIT } from '../exit.ts'
import { areBad, findingLines } from '../render/findings.ts'
import { count, oneLine } from '../render/text.ts'
import { listSessions, resolveSession, rootOf, withStore } from '../store.ts'

interface VerifyOptions extends CommonOptions {
  readonly all?: true
  readonly streams?: true
}

interface Verified {
  readonly id: SessionId
  readonly findings: readonly Finding[]
}

/** `palimpsest verify`: everything that could be wrong with a session, from its bytes to what a provider would say. */
export function verifyCommand(cli: Cli): Command {
  return command({
    name: 'verify',
    summary: 'check a session, from its bytes to what a provider would say',
    description:
      'Checks the log, every rule of acceptance, turns and steps, attachments, and that Anthropic and OpenAI would take the derived messages. Changes nothing. Exits with 1 when there is an error or a warning; what is only `info` needs nothing done.',
    examples: ['palimpsest verify last', 'palimpsest verify --all', 'palimpsest verify 29ccd257 --streams --json'],
  })
    .argument('[session]', `${sessionHelp} (default: last)`)
    .option('--all', 'every session of the store')
    .option('--streams', 'also replay the recorded provider streams against their messages')
    .action(async (name: string | undefined, options: VerifyOptions) => {
      if (name !== undefined && options.all === true) {
        throw new CliError('option/invalid', 'give a session or --all, not both')
      }
      await withStore(cli, options, async (store) => {
        const root = rootOf(cli.io, options)
        const { ids, unlisted } =
          options.all === true ? await everySession(store, root) : await oneSession(store, root, name ?? 'last')
        const verified: Verified[] = []
        for (const [index, id] of ids.entries()) {
          cli.progress.show(`verifying ${index + 1} of ${ids.length}`)
          verified.push({ id, findings: await checkSession(store, id, { streams: options.streams === true }) })
        }
        const isBad = areBad(unlisted) || verified.some(({ findings }) => areBad(findings))
        if (isBad) cli.end(EXIT.finding)
        const findings = verified.flatMap(({ id, findings: found }) =>
          found.map((finding) => (options.all === true ? { session: id, ...finding } : finding)),
        )
        print(cli, options, { ok: !isBad, findings: [...findings, ...unlisted] }, () => render(cli, verified, unlisted))
      })
    })
}

interface Wanted {
  readonly ids: readonly SessionId[]
  /** What is to be said of logs that no list shows. */
  readonly unlisted: readonly Finding[]
}

async function everySession(store: SessionPersistence, root: string): Promise<Wanted> {
  const ids = (await listSessions(store)).map(({ header }) => header.id)
  const unlisted = await findUnlisted(root, new Set(ids))
  return { ids, unlisted: unlisted.map(({ finding }) => finding) }
}

/** A log whose header cannot be read has no name but that of its directory. */
async function oneSession(store: SessionPersistence, root: string, name: string): Promise<Wanted> {
  try {
    return { ids: [await resolveSession(store, name)], unlisted: [] }
  } catch (error) {
    if (!(error instanceof CliError)) throw error
    const unlisted = (await findUnlisted(root, new Set())).filter(({ id }) => id === name)
    if (unlisted.length === 0) throw error
    return { ids: [], unlisted: unlisted.map(({ finding }) => finding) }
  }
}

function render({ io, style }: Cli, verified: readonly Verified[], unlisted: readonly Finding[]): string {
  if (verified.length + unlisted.length === 0) return 'No session yet: nothing to verify.\n'
  const lines = verified.map(({ id, findings }) => {
    const verdict = findings.some(({ severity }) => severity === 'error')
      ? style('red', 'not sound')
      : areBad(findings)
        ? style('yellow', 'sound, but read on')
        : style('green', 'sound')
    return `${style('bold', oneLine(id))}: ${verdict}\n${findingLines(findings, io.columns, style)}`
  })
  const bad = verified.filter(({ findings }) => areBad(findings)).length
  const summary =
    verified.length > 1
      ? `${style('dim', `${count(verified.length, 'session')}, ${bad} with something to mend`)}\n`
      : ''
  return `${lines.join('')}${findingLines(unlisted, io.columns, style)}${summary}`
}
