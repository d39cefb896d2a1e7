import { randomUUID } from 'node:crypto'
import { isAbsolute, resolve } from 'node:path'
import { type Session, type UserMessage, messageId } from '@palimpsest/session'
import { WorkspaceContextError } from './errors.ts'
import { type FilePort, diskFiles } from './files.ts'
import { type ContextHost, pathsOfCall } from './hooks.ts'
import { LiveContext } from './live.ts'
import { type ContextPlan, type PlannedMessage, planContext } from './plan.ts'
import { PLUGIN } from './records.ts'
import { Workspace } from './workspace.ts'

/** The file names looked for unless others are given, from the least specific to the most. */
export const defaultFileNames: readonly string[] = ['AGENTS.md', 'CLAUDE.md', 'AGENTS.local.md', 'CLAUDE.local.md']

export interface WorkspaceContextOptions {
  /** Where the agent works. Absolute. */
  readonly cwd: string
  /** Absolute, at or above `cwd`. The nearest directory with `.git` unless given, else `cwd`. */
  readonly root?: string
  /** Plain names, from the least specific to the most. `defaultFileNames` unless given. */
  readonly fileNames?: readonly string[]
  /** UTF-8 bytes of quoted text on the surface, all files together; frames come on top. Default 65,536. */
  readonly maxBytes?: number
  /** Bytes of one file; a larger one is named, not quoted. Default 32,768. */
  readonly maxFileBytes?: number
  /** Reads the workspace; the file system unless given. */
  readonly port?: FilePort
  /** Makes message ids. Random UUIDs unless given. */
  readonly createId?: () => string
}

/** Keeps the instruction files of one workspace before the model of one agent. SPEC 7.3. */
export interface WorkspaceContext {
  /** Refreshes before each step of the loop, and learns of touched files from its tools. The result detaches. Attach it after compaction. */
  attach(loop: ContextHost): () => void
  /**
   * Brings the surface in line with the files, and says what it wrote: an empty plan writes nothing. For use without a
   * loop, while no call is open. Throws what `Session.append` throws; files never throw.
   */
  refresh(session: Session): Promise<ContextPlan>
  /** Tells that a file was worked on: instruction files beside and above it count from the next refresh on. Absolute, or relative to `cwd`. */
  touched(path: string): void
}

interface Attended {
  readonly live: LiveContext
  /** Settles when the last refresh of the session is over. */
  tail: Promise<unknown>
}

/**
 * Makes the plugin. Throws `WorkspaceContextError` `options/invalid` or `options/outside-root`. What it knows beside the
 * surface (touched files, texts that a compaction covered) lasts as long as it does. SPEC 7.3.
 */
export function workspaceContext(options: WorkspaceContextOptions): WorkspaceContext {
  const { maxBytes = 65_536, maxFileBytes = 32_768, fileNames = defaultFileNames, createId = randomUUID } = options
  checkOptions({ ...options, maxBytes, maxFileBytes, fileNames })
  const workspace = new Workspace({
    cwd: resolve(options.cwd),
    root: options.root === undefined ? undefined : resolve(options.root),
    fileNames,
    maxFileBytes,
    port: options.port ?? diskFiles,
  })
  const sessions = new WeakMap<Session, Attended>()

  const toMessage = ({ text, files }: PlannedMessage): UserMessage => ({
    id: messageId(createId()),
    role: 'user',
    content: [{ type: 'text', text }],
    source: { kind: 'plugin', plugin: PLUGIN, files },
  })

  async function refreshNow(session: Session, live: LiveContext, inject: Inject): Promise<ContextPlan> {
    await workspace.discover()
    const candidates = await workspace.candidates()
    const read = new Map(await workspace.read(candidates))
    for (;;) {
      // No await between the last look at the surface and the plan's application.
      const state = live.state()
      const unread = [...state.told.keys()].filter((path) => !read.has(path))
      if (unread.length === 0) {
        const there = [...read].flatMap(([path, file]) => (file === undefined ? [] : [[path, file] as const]))
        const plan = planContext(state, new Map(there), { maxBytes, fileNames })
        apply(session, plan, inject)
        live.remember(
          [...plan.replace, ...(plan.inject === undefined ? [] : [plan.inject])].flatMap(({ files }) => files),
        )
        return plan
      }
      for (const [path, file] of await workspace.read(unread)) read.set(path, file)
    }
  }

  function apply(session: Session, { replace, inject: fresh }: ContextPlan, inject: Inject): void {
    for (const planned of replace) {
      session.append('user/message', toMessage(planned), {
        surfaceOp: { op: 'replace', startSeq: planned.seq, endSeq: planned.seq },
        sourceEventSeqs: [planned.seq],
      })
    }
    if (fresh !== undefined) inject(toMessage(fresh))
  }

  /** One refresh of a session at a time: a slow one never writes what it read before a later one wrote. */
  function refresh(session: Session, inject: Inject): Promise<ContextPlan> {
    const attended = sessions.get(session) ?? { live: new LiveContext(session), tail: Promise.resolve() }
    sessions.set(session, attended)
    const done = attended.tail.then(() => refreshNow(session, attended.live, inject))
    attended.tail = done.catch(() => undefined)
    return done
  }

  return {
    attach(loop) {
      const detachers = [
        loop.on('agent/pre-step', async (step) => {
          await refresh(step.session, (message) => step.inject(message))
        }),
        loop.on('tools/result', (settled) => {
          for (const path of pathsOfCall(settled)) workspace.touch(path)
        }),
      ]
      return () => {
        for (const detach of detachers) detach()
      }
    },
    refresh: (session) =>
      refresh(session, (message) => void session.append('user/message', message, { surfaceOp: 'append' })),
    touched: (path) => workspace.touch(path),
  }
}

type Inject = (message: UserMessage) => void

function checkOptions({ cwd, root, fileNames = [], maxBytes, maxFileBytes }: WorkspaceContextOptions): void {
  const invalid = (message: string): never => {
    throw new WorkspaceContextError('options/invalid', message)
  }
  for (const [name, path] of Object.entries({ cwd, root: root ?? cwd })) {
    if (!isAbsolute(path)) invalid(`${name} is ${JSON.stringify(path)}: give an absolute path`)
  }
  for (const name of fileNames) {
    if (name === '' || name === '.' || name === '..' || /[/\\\0]/.test(name)) {
      invalid(`fileNames holds ${JSON.stringify(name)}: give plain file names`)
    }
  }
  for (const [name, bytes] of Object.entries({ maxBytes, maxFileBytes })) {
    if (!Number.isSafeInteger(bytes) || (bytes ?? -1) < 0) {
      invalid(`${name} is ${String(bytes)}: give a whole number of bytes, 0 or more`)
    }
  }
}
