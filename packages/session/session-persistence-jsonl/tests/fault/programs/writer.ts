import { sessionId } from '@palimpsest/session'
import type { SessionHandle } from '@palimpsest/session-persistence'
import { seededRandom } from '@palimpsest/testkit'
import { headerOf, openStore, said } from '../support.ts'

/**
 * A writer in its own process. Arguments: root, session id, `kernel` or `lease`. It reads commands from its input,
 * one line each, and answers each with one line of JSON: `{ ok: command, … }` or `{ failed: command, name, code, … }`.
 *
 * `create`, `open`: take the session for writing. `append N`: N events in one batch. `loop SEED`: batches without end,
 * one answer after each. `close`: closes the handle.
 */
const [root = '', name = '', lock = 'kernel'] = process.argv.slice(2)
const store = openStore(root, undefined, lock === 'lease' ? 'lease' : 'kernel')
let handle: SessionHandle | undefined
let next = 0

function say(answer: object): void {
  process.stdout.write(`${JSON.stringify(answer)}\n`)
}

async function append(count: number): Promise<void> {
  await handle?.append(Array.from({ length: count }, (_, index) => said(next + index)))
  next += count
}

async function run(command: string, argument: string | undefined): Promise<void> {
  switch (command) {
    case 'create':
      handle = await store.create(headerOf(name))
      break
    case 'open':
      handle = await store.open(sessionId(name), 'write')
      next = handle.stored.events.length
      break
    case 'append':
      await append(Number(argument))
      break
    case 'loop':
      for (const random = seededRandom(Number(argument)); ;) {
        await append(1 + Math.floor(random() * 3))
        say({ ok: 'loop', acknowledged: next - 1 })
      }
    case 'close':
      await handle?.close()
      break
    default:
      throw new Error(`unknown command ${command}`)
  }
  say({ ok: command, next, status: handle?.status })
}

/** The parts of a refusal that a test asks about. */
function refusal(cause: unknown): object {
  const {
    name: kind,
    code,
    message,
    pid,
    host,
  } = cause as { name: string; code?: string; message: string; pid?: number; host?: string }
  return { name: kind, code, message, pid, host, status: handle?.status }
}

let work = Promise.resolve()
let rest = ''
process.stdin.on('data', (chunk: Buffer) => {
  const lines = (rest + chunk.toString()).split('\n')
  rest = lines.pop() ?? ''
  for (const line of lines) {
    const [command = '', argument] = line.split(' ')
    work = work
      .then(() => run(command, argument))
      .catch((cause: unknown) => say({ failed: command, ...refusal(cause) }))
  }
})
say({ ok: 'ready' })
