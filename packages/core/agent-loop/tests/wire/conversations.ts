import { basicCompaction, extractSummarizer, modelSummarizer } from '@palimpsest/compact-basic'
import { languageModelAdapter } from '@palimpsest/provider-messages'
import { type ReceivedRequest, type ServedAnswer, seededRandom } from '@palimpsest/testkit'
import { resultPruning } from '@palimpsest/tool-result-pruner'
import { type FilePort, workspaceContext } from '@palimpsest/workspace-context'
import type { AgentLoop } from '../../src/index.ts'
import { Dice, anyReply, anySummary, anyTrouble, asksForSummary } from './scripts.ts'
import { type Tally, addTally, emptyTally } from './tally.ts'
import { type WireTarget, allTargets, fields } from './targets.ts'
import { WireSession } from './wire-session.ts'

const quiet = ['on', 'on', 'on', 'on', 'on'] as const

const prompts = [
  'Go on.',
  ' ',
  'Read the files, please.',
  'Grüße 😀 \ud800!',
  `A long request. ${'It has many words. '.repeat(20)}`,
] as const

/** One conversation of several turns, all of it from the seed. The result holds what went wrong. */
export async function converse(
  root: string,
  target: WireTarget,
  seed: number,
): Promise<{ readonly tally: Tally; readonly problems: readonly string[] }> {
  const conversation = new Conversation(root, target, seed)
  return conversation.run()
}

class Conversation {
  #target: WireTarget
  readonly #first: WireTarget
  readonly #dice: Dice
  readonly #script: Dice
  readonly #seed: number
  readonly #one: WireSession
  readonly #tally = emptyTally()
  /** Tokens that the server takes, where there is a limit. */
  readonly #window: number | undefined
  readonly #files = new Map<string, string>()
  /** Steps of this turn that may still call tools, and failures that may still happen in a row. */
  #calls = 0
  #troubles = 0
  #system = 'You read files.'
  /** Without what asks for thinking. */
  #isPlain = false
  /** An abort is on its way: a server may fall silent. */
  #asking: AgentLoop | undefined
  #mayHang = false
  #compaction: ReturnType<typeof basicCompaction> | undefined
  /** Something that lands in the session while an answer is on its way. */
  #landing: Promise<void> | undefined

  constructor(root: string, target: WireTarget, seed: number) {
    this.#target = target
    this.#first = target
    this.#seed = seed
    this.#dice = new Dice(seededRandom(seed))
    this.#script = new Dice(seededRandom(seed + 0x5eed))
    this.#one = new WireSession(root, `${target.name} ${seed}`)
    this.#window = this.#dice.chance(0.6) ? 650 + this.#dice.below(1500) : undefined
    if (this.#dice.chance(0.3)) this.#files.set('/w/AGENTS.md', 'Be brief.')
  }

  async run(): Promise<{ readonly tally: Tally; readonly problems: readonly string[] }> {
    const one = this.#one
    await this.#serve()
    try {
      await this.#open()
      const turns = 2 + this.#dice.below(5)
      for (let turn = 0; turn < turns; turn += 1) {
        if (turn > 0) await this.#between(turn)
        await this.#turn()
      }
      await one.end()
    } catch (error) {
      one.problems.push(`the test failed: ${error instanceof Error ? error.stack : String(error)}`)
      for (const server of one.servers) await server.close()
    }
    const refused = one.refusals()
    const wrong = refused.filter(({ isOverflow }) => !isOverflow)
    const { sent } = one.recorder
    this.#count({
      conversations: 1,
      requests: one.servers.reduce((sum, { requests }) => sum + requests.length, 0),
      overflows: refused.length - wrong.length,
      bodies: one.ledger.runs,
      late: one.session.events.filter(({ type }) => type === 'tool/late-result').length,
      reasoning: sent.reduce((sum, { target, body }) => sum + target.reasoning(body).length, 0),
      refusals: wrong.length,
    })
    return { tally: this.#tally, problems: [...one.problems, ...wrong.map(({ what }) => what)] }
  }

  async #serve(): Promise<void> {
    const target = this.#target
    await this.#one.serve(target, {
      seed: this.#seed,
      script: (request) => this.#answer(request, target),
      ...(this.#window === undefined ? {} : { contextTokens: this.#window }),
    })
  }

  #count(some: Partial<Tally>): void {
    addTally(this.#tally, { ...emptyTally(), ...some })
  }

  /** A new loop with all plugins. */
  async #open(): Promise<void> {
    const one = this.#one
    const dice = this.#dice
    const loop = await one.open(this.#target, {
      system: this.#system,
      ...(this.#isPlain ? { settings: { maxTokens: 3000 } } : {}),
      maxParallelTools: dice.one([1, 2, 4]),
      maxSteps: 12,
    })
    if (dice.chance(0.4)) this.#prune(loop)
    this.#compaction = this.#compact(loop)
    if (this.#files.size > 0) workspaceContext({ cwd: '/w', root: '/w', port: this.#port() }).attach(loop)
    loop.on('tools/pre-execute', () => (dice.chance(0.05) ? { deny: 'not today' } : undefined))
    loop.on('agent/pre-step', () => {
      if (dice.chance(0.1)) one.gate.release()
    })
  }

  #prune(loop: AgentLoop): void {
    resultPruning({
      results: { maxBytes: 200, keepRecent: 1, highWater: 1500, lowWater: 800 },
      images: { maxImages: 3, lowWater: { images: 1 }, keepRecent: 1 },
      onReport: () => this.#count({ prunings: 1 }),
    }).attach(loop)
  }

  #compact(loop: AgentLoop): ReturnType<typeof basicCompaction> {
    const one = this.#one
    const dice = this.#dice
    const window = this.#window ?? 2000
    // Either the policy knows the window, or the provider has to say it.
    const tokens = dice.chance(0.5) ? Math.floor(window * 0.9) : 1_000_000
    const model = one.recorder.sideModel(this.#target, one.server(this.#target).baseURL)
    const adapter = languageModelAdapter({ attachments: one.attachments })
    const summarize = dice.one([
      extractSummarizer(),
      extractSummarizer(),
      modelSummarizer({ model, prefix: 'plain' }),
      modelSummarizer({ model, adapter, prefix: 'replay' }),
    ])
    const compaction = basicCompaction({
      session: one.session,
      summarize,
      budget: { tokens },
      keepRecentTokens: dice.one([0, 200, 500]),
      summaryTokens: 60,
      flush: () => one.flush(),
      onNoProgress: dice.one(['stop', 'continue']),
      onOutcome: ({ kind }) => {
        if (kind === 'compacted') this.#count({ compactions: 1 })
      },
    })
    compaction.attach(loop)
    return compaction
  }

  #port(): FilePort {
    return {
      read: (path) => {
        const text = this.#files.get(path)
        if (text === undefined) return Promise.resolve({ kind: 'absent' })
        return Promise.resolve({ kind: 'bytes', bytes: new TextEncoder().encode(text) })
      },
      exists: (path) => Promise.resolve(this.#files.has(path)),
    }
  }

  #answer(request: ReceivedRequest, target: WireTarget): ServedAnswer | Promise<ServedAnswer> {
    const dice = this.#script
    if (asksForSummary(request)) return anySummary(dice)
    const answer = this.#answerOf(request, target)
    if (!dice.chance(0.08)) return answer
    // Whatever comes of the answer, what lands before it was not sent.
    this.#landing = this.#land().catch((error: unknown) => void this.#one.problems.push(`a landing: ${String(error)}`))
    return this.#landing.then(() => answer)
  }

  /** What another part of a program does to a session while an answer is on its way. */
  async #land(): Promise<void> {
    const one = this.#one
    this.#count({ landings: 1 })
    const what = this.#script.one(['append', 'replace', 'compact'])
    if (what === 'append') one.say('by the way')
    if (what === 'replace') one.redact()
    if (what === 'compact') await this.#compaction?.compactNow()
  }

  #answerOf(request: ReceivedRequest, target: WireTarget): ServedAnswer {
    const dice = this.#script
    const reply = anyReply(dice, target, request, this.#calls > 0 && dice.chance(0.75))
    if (this.#mayHang && dice.chance(0.3)) {
      this.#mayHang = false
      // The one that asked: by then it may be closed.
      const asking = this.#asking
      setImmediate(() => setImmediate(() => asking?.abort('silence')))
      return { ...reply, break: { how: 'hang', after: dice.one([0, 1, 3, 8]) } }
    }
    if (this.#troubles > 0 && dice.chance(0.3)) {
      this.#troubles -= 1
      return anyTrouble(dice, reply)
    }
    this.#calls -= 1
    return reply
  }

  async #turn(): Promise<void> {
    const { loop } = this.#one
    this.#asking = loop
    const dice = this.#dice
    this.#calls = dice.below(5)
    // An overflow may take an attempt of the four too.
    this.#troubles = dice.one([0, 1, 2])
    const disarm = [dice.chance(0.25) ? this.#armAbort(loop) : undefined, this.#armInput(loop)]
    this.#mayHang = dice.chance(0.15)
    const { reason } = await loop.send(dice.one(prompts))
    await loop.idle()
    await this.#landing
    for (const off of disarm) off?.()
    if (reason.kind === 'error') this.#judge(reason.failure)
    if (reason.kind === 'aborted') this.#count({ aborts: 1 })
  }

  /** Failures pass before the last attempt: a turn ends in error only where nothing makes the prompt small enough. */
  #judge(failure: unknown): void {
    const { code, message } = fields(failure)
    const isOverWindow = code === 'request/overflow' && this.#window !== undefined
    const isOverBudget = code === 'hook/failed' && String(message).includes('compaction does not get')
    if (isOverWindow || isOverBudget) this.#count({ stuck: 1 })
    else this.#one.problems.push(`a turn failed: ${JSON.stringify(failure)}`)
  }

  /** Aborts at some event of the turn, or at some chunk of an answer. */
  #armAbort(loop: AgentLoop): () => void {
    const { session, recorder } = this.#one
    const dice = this.#dice
    const at = dice.below(30)
    if (dice.chance(0.5)) {
      let chunks = 0
      recorder.onChunk = () => {
        if (chunks === at) loop.abort('enough')
        chunks += 1
      }
      return () => (recorder.onChunk = () => undefined)
    }
    const end = session.length + at
    return session.on('session/event', ({ seq }) => {
      if (seq === end) loop.abort('enough')
    })
  }

  #armInput(loop: AgentLoop): () => void {
    const { session } = this.#one
    const dice = this.#dice
    const steerAt = session.length + (dice.chance(0.2) ? dice.below(20) : Infinity)
    const injectAt = session.length + (dice.chance(0.1) ? dice.below(20) : Infinity)
    return session.on('session/event', ({ seq }) => {
      if (seq === steerAt) loop.steer('and this')
      if (seq === injectAt) loop.inject('by the way')
    })
  }

  /** What happens to a session while no turn runs. */
  async #between(turn: number): Promise<void> {
    const one = this.#one
    const dice = this.#dice
    if (dice.chance(0.3)) one.gate.release()
    if (this.#files.size > 0 && dice.chance(0.2)) this.#files.set('/w/AGENTS.md', `Be brief, in turn ${turn}.`)
    if (dice.chance(0.15)) await this.#compaction?.compactNow()
    if (this.#tally.compactions > 0 && dice.chance(0.1) && (await one.undo(this.#child('undo', turn)))) {
      this.#count({ undos: 1 })
      return this.#open()
    }
    const what = dice.one([...quiet, 'prompt', 'resume', 'cut', 'cut', 'fork', 'switch', 'settings'])
    if (what === 'on') return
    if (what === 'prompt') this.#system = dice.one(['You read files.', '', ' ', 'You read files, \ud800 and briefly.'])
    if (what === 'settings') this.#isPlain = !this.#isPlain
    if (what === 'resume') {
      this.#count({ resumes: 1 })
      await one.resume()
    }
    if (what === 'cut') {
      this.#count({ cuts: 1 })
      await one.cut(1 + dice.below(one.session.length), dice.below(200))
    }
    if (what === 'fork') {
      this.#count({ forks: 1 })
      await one.fork(dice.below(one.session.length), this.#child('fork', turn))
    }
    if (what === 'switch') await this.#switch()
    await this.#open()
  }

  #child(what: string, turn: number): string {
    return `${this.#first.name} ${this.#seed} ${what} ${turn}`
  }

  /** Another provider takes over, or the first one again. */
  async #switch(): Promise<void> {
    this.#count({ switches: 1 })
    this.#target = this.#dice.one([this.#first, ...allTargets])
    if (!this.#one.isServed(this.#target)) await this.#serve()
  }
}
