import { CompactionError } from '@palimpsest/compact'
import { PersistenceError, type PersistenceErrorCode } from '@palimpsest/session-persistence'
import { ProviderMessagesError } from '@palimpsest/provider-messages'
import { SessionAcceptanceError, SessionError } from '@palimpsest/session'
import { SessionFormatError } from '@palimpsest/session-format'
import { TranscriptError } from '@palimpsest/transcripts'

/** What the process tells its caller. SPEC 9. */
export const EXIT = { ok: 0, finding: 1, usage: 2, io: 3 } as const
export type ExitCode = (typeof EXIT)[keyof typeof EXIT]

/**
 * Codes of the command itself; the packages below bring their own.
 *
 * - `session/unknown`: no session of the store is meant by this name.
 * - `session/ambiguous`: more than one session begins with it.
 * - `store/empty`: `last` was asked for and there is no session.
 * - `seq/invalid`: not a seq of this log.
 * - `option/invalid`: an option has a value that cannot be used.
 * - `source/unreadable`: a file that was named cannot be read.
 * - `source/nothing`: nothing to import was found.
 * - `chat/no-key`: the environment has no key for the provider.
 * - `demo/failed`: the demonstration did not go as it should.
 */
export type CliErrorCode =
  | 'session/unknown'
  | 'session/ambiguous'
  | 'store/empty'
  | 'seq/invalid'
  | 'option/invalid'
  | 'source/unreadable'
  | 'source/nothing'
  | 'chat/no-key'
  | 'demo/failed'

const exits: Readonly<Record<CliErrorCode, ExitCode>> = {
  'session/unknown': EXIT.usage,
  'session/ambiguous': EXIT.usage,
  'store/empty': EXIT.usage,
  'seq/invalid': EXIT.usage,
  'option/invalid': EXIT.usage,
  'source/unreadable': EXIT.io,
  'source/nothing': EXIT.finding,
  'chat/no-key': EXIT.usage,
  'demo/failed': EXIT.finding,
}

/** The error of this package; the message says what to do about it and holds no path that the user did not type. */
export class CliError extends Error {
  override readonly name = 'CliError'
  readonly code: CliErrorCode

  constructor(code: CliErrorCode, message: string, options?: { readonly cause?: unknown }) {
    super(message, options)
    this.code = code
  }
}

/** What the log itself says is wrong, as against what the machine says. */
const aboutTheLog: ReadonlySet<PersistenceErrorCode> = new Set([
  'session/corrupt',
  'header/invalid',
  'header/newer-version',
  'event/invalid',
  'attachment/invalid',
])

/** What the command line named is not there, or is there already. */
const aboutTheName: ReadonlySet<PersistenceErrorCode> = new Set(['session/not-found', 'session/exists'])

/** Whether an error of the store tells of the log, not of the machine. */
export function isAboutLog(code: PersistenceErrorCode): boolean {
  return aboutTheLog.has(code)
}

/** Error classes of packages that most commands do without: to name them here would load them. */
const lazilyLoaded: ReadonlySet<string> = new Set(['AgentLoopError', 'CompactBasicError', 'ToolResultPrunerError'])

export interface Failure {
  readonly exit: ExitCode
  /** One line, without a stack. */
  readonly line: string
}

/** How an error of any kind ends the command. */
export function failureOf(error: unknown): Failure {
  if (error instanceof CliError) return { exit: exits[error.code], line: `${error.code}: ${error.message}` }
  if (error instanceof PersistenceError) {
    const exit = aboutTheName.has(error.code) ? EXIT.usage : isAboutLog(error.code) ? EXIT.finding : EXIT.io
    return { exit, line: `${error.code}: ${error.message}` }
  }
  if (error instanceof SessionError) {
    const text = error.message.startsWith(`${error.code}: `) ? error.message : `${error.code}: ${error.message}`
    const isOfLog = error instanceof SessionAcceptanceError || error.code.startsWith('header/')
    return { exit: EXIT.finding, line: isOfLog ? `${text}; \`palimpsest verify\` tells more` : text }
  }
  if (error instanceof CompactionError) return { exit: EXIT.finding, line: error.message }
  if (error instanceof Error && lazilyLoaded.has(error.name) && 'code' in error) {
    return { exit: EXIT.finding, line: `${String(error.code)}: ${error.message}` }
  }
  if (
    error instanceof ProviderMessagesError ||
    error instanceof TranscriptError ||
    error instanceof SessionFormatError
  ) {
    return { exit: EXIT.finding, line: `${error.code}: ${error.message}` }
  }
  const { code, syscall } = (error ?? {}) as { code?: unknown; syscall?: unknown }
  if (typeof code === 'string' && typeof syscall === 'string') {
    return { exit: EXIT.io, line: `io/${syscall}: the system answered ${code}` }
  }
  const text = error instanceof Error ? `${error.name}: ${error.message}` : String(error)
  return {
    exit: EXIT.io,
    line: `internal: ${text.split('\n', 1)[0]}: this is a fault of the command, please report it`,
  }
}
