import { mkdtemp, readFile, readdir, rm, truncate } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { CompactionError, compactionEvents, undoCompaction } from '@palimpsest/compact'
import {
  type AttachmentRef,
  type EventOf,
  type MessageId,
  Session,
  SessionStore,
  coreEvents,
  interruptedTurnClosers,
  jsonEqual,
  toJson,
  traceFindings,
} from '@palimpsest/session'
import { type PersistedSession, type SessionPersistence, persistSession } from '@palimpsest/session-persistence'
import { jsonlPersistence } from '@palimpsest/session-persistence-jsonl'
import { type ProviderServer, type ProviderServerOptions, startProviderServer } from '@palimpsest/testkit'
import { AgentLoop, type AgentLoopOptions } from '../../src/index.ts'
import { isSubsequence, requestProblems } from './checks.ts'
import { WireRecorder } from './recorder.ts'
import type { WireTarget } from './targets.ts'
import { BodyLedger, Gate, pixel, wireTools } from './tools.ts'

const vocabulary = coreEvents.extend(compactionEvents)

/** The store's directory of a test, removed with it. */
export async function temporaryRoot(): Promise<{ readonly path: string; dispose(): Promise<void> }> {
  const path = await mkdtemp(join(tmpdir(), 'palimpsest-wire-'))
  return { path, dispose: () => rm(path, { recursive: true, force: true }) }
}

/** One session on disk, through its loops, providers, cuts and forks; and everything that was sent for it. */
export class WireSession {
  readonly recorder = new WireRecorder()
  readonly ledger = new BodyLedger()
  readonly gate = new Gate()
  readonly waits: number[] = []
  readonly problems: string[] = []
  readonly #servers = new Map<WireTarget, ProviderServer>()
  readonly #root: string
  #persistence: SessionPersistence
  #persisted: PersistedSession | undefined
  #loop: AgentLoop | undefined
  session: Session
  #ids = 0

  constructor(root: string, id: string) {
    // A store of its own: looking for one log among those of other tests would cost more with each test.
    this.#root = join(root, encodeURIComponent(id))
    this.#persistence = jsonlPersistence({ root: this.#root })
    this.session = Session.create({ id, vocabulary })
  }

  get loop(): AgentLoop {
    if (this.#loop === undefined) throw new Error('no loop is open')
    return this.#loop
  }

  get servers(): readonly ProviderServer[] {
    return [...this.#servers.values()]
  }

  server(target: WireTarget): ProviderServer {
    const server = this.#servers.get(target)
    if (server === undefined) throw new Error(`no server for ${target.name}`)
    return server
  }

  isServed(target: WireTarget): boolean {
    return this.#servers.has(target)
  }

  /** What the servers refused or ignored, and whether that was a prompt that was too large. */
  refusals(): { readonly what: string; readonly isOverflow: boolean }[] {
    return [...this.#servers].flatMap(([{ name, overflow }, { refusals, dropped, requests }]) => [
      ...refusals.map(({ rule, message, request }) => ({
        what: `${name} refuses by ${rule}: ${message}\n${requests[request]?.text ?? ''}`,
        isOverflow: overflow.includes(rule),
      })),
      ...dropped.map(({ rule, request }) => ({
        what: `${name} ignores a block by ${rule}\n${requests[request]?.text ?? ''}`,
        isOverflow: false,
      })),
    ])
  }

  async serve(target: WireTarget, options: Omit<ProviderServerOptions, 'kind'>): Promise<ProviderServer> {
    const server = await startProviderServer({ strict: true, ...options, kind: target.kind })
    this.#servers.set(target, server)
    return server
  }

  /** A new loop on the session; the one before is closed. */
  async open(target: WireTarget, options: Partial<AgentLoopOptions> = {}): Promise<AgentLoop> {
    await this.#loop?.close()
    this.#persisted ??= persistSession(this.session, await this.#persistence.create(this.session.header))
    const { recorder, ledger, gate } = this
    this.#loop = new AgentLoop({
      session: this.session,
      adapter: recorder.adapter(target, { attachments: this.attachments }),
      model: recorder.model(target, this.server(target).baseURL),
      tools: wireTools({ ledger, gate, putImage: (bytes) => this.#putImage(bytes) }),
      settings: target.settings,
      system: 'You read files.',
      flush: () => this.flush(),
      sleep: (ms) => {
        this.waits.push(ms)
        return Promise.resolve()
      },
      createId: () => `${this.session.id}-${this.session.length}-${(this.#ids += 1)}`,
      abortGraceMs: 0,
      ...options,
    })
    return this.#loop
  }

  /** What the store holds beside the session's log. */
  readonly attachments: { get(ref: AttachmentRef): Promise<Uint8Array | undefined> } = {
    get: (ref) => this.#persistence.attachments(this.session.id).get(ref),
  }

  flush(): Promise<void> {
    return this.#persisted?.flush() ?? Promise.resolve()
  }

  /** Appends a user message, whatever the loop does. */
  say(value: string): void {
    this.session.append('user/message', this.#words(value), { surfaceOp: 'append' })
  }

  /** Replaces the last user message, whatever the loop does. */
  redact(): void {
    const { session } = this
    const seq = session.surface.nodes.findLast((node) => session.eventAt(node)?.type === 'user/message')
    if (seq === undefined) return
    const surfaceOp = { op: 'replace', startSeq: seq, endSeq: seq } as const
    session.append('user/message', this.#words('redacted'), { surfaceOp, sourceEventSeqs: [seq] })
  }

  #words(text: string): EventOf<'user/message'>['data'] {
    const id = `${this.session.id}-${this.session.length}-${(this.#ids += 1)}` as MessageId
    return { id, role: 'user', content: [{ type: 'text', text }], source: { kind: 'plugin', plugin: 'wire' } }
  }

  /** Ends the process in good order, and another one goes on. */
  async resume(): Promise<void> {
    await this.#leave()
    await this.#enter()
  }

  /**
   * The log is cut as a process that died may leave it: it ends after `kept` events, and then some bytes of the next
   * one. Another process opens it. What was sent before is checked against the log as it was.
   */
  async cut(kept: number, torn: number): Promise<void> {
    await this.#leave()
    await this.check()
    const path = await this.#logPath()
    const lines = (await readFile(path, 'utf8')).split('\n')
    const whole = lines.slice(0, kept + 1).reduce((sum, line) => sum + Buffer.byteLength(line) + 1, 0)
    const next = Buffer.byteLength(lines[kept + 1] ?? '')
    await truncate(path, whole + Math.min(torn, Math.max(0, next - 1)))
    this.#forget(kept)
    await this.#enter()
  }

  /** Goes on in a child that begins with the events up to `boundary`. */
  async fork(boundary: number, id: string): Promise<void> {
    await this.#leave()
    await this.check()
    this.session = new SessionStore().fork(this.session, boundary, { id })
    await this.#adopt(boundary + 1)
  }

  /** Goes on in a child in which the last compaction never happened; answers whether there was one that can be undone. */
  async undo(id: string): Promise<boolean> {
    const { events } = this.session
    const compactionId = events
      .flatMap((event) => (event.type === 'compaction/summary' ? [event.data.compactionId] : []))
      .at(-1)
    const start = events.find((event) => event.type === 'compaction/start' && event.data.compactionId === compactionId)
    if (compactionId === undefined || start === undefined) return false
    await this.#leave()
    await this.check()
    try {
      this.session = undoCompaction(this.session, compactionId, { id })
    } catch (error) {
      if (!(error instanceof CompactionError)) throw error
      await this.#enter()
      return false
    }
    await this.#adopt(start.seq)
    return true
  }

  /** What must hold of the log and of every request behind it, whenever nothing runs. */
  async check(): Promise<void> {
    const { events } = this.session
    this.problems.push(...(await requestProblems(this.session, this.recorder.sent, { attachments: this.attachments })))
    this.problems.push(...interruptedTurnClosers(events).map(({ type }) => `the log lacks a ${type}`))
    const findings = traceFindings(events).filter(({ code }) => code !== 'trace/undelivered-result')
    this.problems.push(...findings.map(({ code, message }) => `${code}: ${message}`))
    this.problems.push(...this.ledger.problems)
    const { bodies } = this.recorder
    for (const { baseURL, requests } of this.servers) {
      const { origin } = new URL(baseURL)
      const sent = bodies.filter((body) => body.origin === origin).map(({ text }) => text)
      if (
        !isSubsequence(
          requests.map(({ text }) => text),
          sent,
        )
      )
        this.problems.push('a server got what nobody sent')
    }
  }

  /** Closes everything, and reads the log from the disk once more. */
  async end(): Promise<void> {
    await this.#loop?.close()
    this.#loop = undefined
    await this.check()
    await this.#leave()
    this.#persistence = jsonlPersistence({ root: this.#root })
    const handle = await this.#persistence.open(this.session.id, 'read')
    const restored = Session.restore(handle.stored, { vocabulary })
    // A body that nobody waits for may still report to a session that nobody stores, as in a process that ends.
    const odd = this.session.events.find((event) => {
      const stored = restored.eventAt(event.seq)
      return stored === undefined ? event.type !== 'tool/late-result' : !jsonEqual(toJson(stored), toJson(event))
    })
    if (odd !== undefined) this.problems.push(`the disk holds another event ${odd.seq}, ${odd.type}`)
    if (!jsonEqual(toJson(restored.deriveMessages()), toJson(this.session.deriveMessages()))) {
      this.problems.push('the log on the disk derives another list')
    }
    await this.#persistence.close()
    for (const server of this.servers) await server.close()
  }

  #lastTurn(): number {
    return this.session.events.reduce((last, event) => (event.type === 'turn/start' ? event.data.turn : last), 0)
  }

  #forget(kept: number): void {
    const { sent } = this.recorder
    sent.splice(0, sent.length, ...sent.filter(({ seq }) => seq < kept))
  }

  /** Stores a child whose first `kept` events are those of its parent. */
  async #adopt(kept: number): Promise<void> {
    this.#forget(kept)
    this.#persisted = persistSession(this.session, await this.#persistence.create(this.session.header))
    await this.flush()
    // The bytes that inherited events cite belong to the child as well.
    await this.#putImage(pixel)
    this.ledger.reopen(this.#lastTurn())
  }

  async #leave(): Promise<void> {
    await this.#loop?.close()
    this.#loop = undefined
    await this.#persisted?.close()
    this.#persisted = undefined
    await this.#persistence.close()
    this.#persistence = jsonlPersistence({ root: this.#root })
  }

  async #enter(): Promise<void> {
    const handle = await this.#persistence.open(this.session.id, 'write')
    this.session = Session.restore(handle.stored, { vocabulary })
    this.#persisted = persistSession(this.session, handle)
    this.ledger.reopen(this.#lastTurn())
  }

  async #logPath(): Promise<string> {
    const names = await readdir(this.#root, { recursive: true })
    const logs = await Promise.all(
      names
        .filter((name) => name.endsWith('session.v3.jsonl'))
        .map(async (name) => ({ path: join(this.#root, name), text: await readFile(join(this.#root, name), 'utf8') })),
    )
    const own = logs.find(({ text }) => text.split('\n', 1)[0]?.includes(`"id":${JSON.stringify(this.session.id)}`))
    if (own === undefined) throw new Error(`no log of ${this.session.id}`)
    return own.path
  }

  async #putImage(bytes: Uint8Array): Promise<AttachmentRef> {
    const store = this.#persistence.attachments(this.session.id)
    return store.put(bytes, { mediaType: 'image/png', width: 1, height: 1 })
  }
}
