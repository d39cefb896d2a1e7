import { createHash } from 'node:crypto'
import { lstatSync, mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { SessionEvent, SessionHeader } from '@palimpsest/session'
import { jsonlPersistence } from '@palimpsest/session-persistence-jsonl'
import { afterAll } from 'vitest'
import type { ExitCode } from '../src/exit.ts'
import type { Io } from '../src/io.ts'
import { run } from '../src/run.ts'

/** Directories that are gone when the file's tests are done. */
const made: string[] = []
afterAll(() => {
  for (const path of made) rmSync(path, { recursive: true, force: true })
})

export function scratch(): string {
  const path = mkdtempSync(join(tmpdir(), 'palimpsest-cli-'))
  made.push(path)
  return path
}

export interface Ran {
  readonly exit: ExitCode
  readonly out: string
  readonly err: string
  /** Parsed output of `--json`. */
  readonly json: unknown
}

export interface RunOptions extends Partial<Omit<Io, 'stderr'>> {
  readonly root?: string
}

async function* nothing(): AsyncGenerator<string> {}

/** Runs one command line in this process. */
export async function palimpsest(argv: readonly string[], { root, stdout, ...io }: RunOptions = {}): Promise<Ran> {
  let [out, err] = ['', '']
  const exit = await run(argv, {
    env: root === undefined ? {} : { PALIMPSEST_ROOT: root },
    home: join(tmpdir(), 'palimpsest-nobody'),
    columns: 100,
    isStdoutTty: false,
    isStderrTty: false,
    program: '',
    input: nothing,
    onInterrupt: () => () => undefined,
    ...io,
    stdout: (text) => {
      out += text
      stdout?.(text)
    },
    stderr: (text) => (err += text),
  })
  const json: unknown = argv.includes('--json') && out !== '' ? JSON.parse(out) : undefined
  return { exit, out, err, json }
}

/** Every file and directory below a path, with what it holds. */
export function treeOf(path: string, prefix = ''): Record<string, string> {
  const tree: Record<string, string> = {}
  for (const name of readdirSync(join(path, prefix)).sort()) {
    const below = join(prefix, name)
    if (lstatSync(join(path, below)).isDirectory()) Object.assign(tree, { [below]: 'directory' }, treeOf(path, below))
    else
      tree[below] = createHash('sha256')
        .update(readFileSync(join(path, below)))
        .digest('hex')
  }
  return tree
}

/** Path of the log of a session whose id needs no encoding. */
export function logOf(root: string, id: string): string {
  const found = Object.keys(treeOf(root)).find((path) => path.endsWith(join(id, 'session.v3.jsonl')))
  if (found === undefined) throw new Error(`no log of ${id} below the root`)
  return join(root, found)
}

function headerOf(id: string): SessionHeader {
  return {
    format: 'palimpsest',
    version: 3,
    id,
    createdAt: 1_700_000_000_000,
    isSeeded: false,
    delegationDepth: 0,
  } as SessionHeader
}

/** Stores events as they are, whatever acceptance thinks of them. */
export async function storeEvents(root: string, id: string, events: readonly object[]): Promise<void> {
  const store = jsonlPersistence({ root })
  const handle = await store.create(headerOf(id))
  await handle.append(events as readonly SessionEvent[])
  await handle.close()
  await store.close()
}

let time = 1_700_000_000_000

/** An event with its envelope. */
export function event(seq: number, type: string, data: object, rest: object = {}): object {
  time += 1000
  return { type, seq, time, ...rest, data }
}

export function said(seq: number, text: string, rest: object = {}): object {
  const message = { id: `u${seq}`, role: 'user', content: [{ type: 'text', text }], source: { kind: 'user' } }
  return event(seq, 'user/message', message, { surfaceOp: 'append', ...rest })
}

export function answered(seq: number, content: readonly object[], rest: object = {}): object {
  const message = { id: `a${seq}`, role: 'assistant', content, source: { kind: 'model', provider: 'p', model: 'm' } }
  return event(seq, 'assistant/message', { turn: 1, step: 1, message, stream: [], ...rest }, { surfaceOp: 'append' })
}

export function call(id: string): object {
  return { type: 'tool-call', id, name: 'run', arguments: '{}' }
}

export function result(seq: number, callId: string, text = 'done'): object {
  const message = {
    id: `r${seq}`,
    role: 'user',
    content: [{ type: 'tool-result', toolCallId: callId, content: [{ type: 'text', text }] }],
    source: { kind: 'tool', callId },
  }
  return event(seq, 'tool/result', { turn: 1, step: 1, message }, { surfaceOp: 'append' })
}

/** A turn with one call that was answered. */
export function wholeTurn(): object[] {
  const step = { turn: 1, step: 1 }
  return [
    event(0, 'turn/start', { turn: 1 }),
    event(1, 'step/start', step),
    said(2, 'Please look.'),
    answered(3, [{ type: 'text', text: 'Looking.' }, call('c1')]),
    event(4, 'tool/call', { ...step, callId: 'c1', name: 'run', arguments: '{}' }),
    { ...result(5, 'c1'), sourceEventSeqs: [4] },
    event(6, 'step/end', step),
    event(7, 'turn/end', { turn: 1, reason: { kind: 'completed' } }),
  ]
}
