import type { ReceivedRequest, ServedAnswer, ServedBlock, ServedFailure, ServedReply } from '@palimpsest/testkit'
import { DEFAULT_INSTRUCTIONS } from '@palimpsest/compact-basic'
import type { WireTarget } from './targets.ts'

/** Choices from one seed. */
export class Dice {
  readonly #random: () => number

  constructor(random: () => number) {
    this.#random = random
  }

  chance(probability: number): boolean {
    return this.#random() < probability
  }

  /** An integer from 0 up to, and without, `end`. */
  below(end: number): number {
    return Math.floor(this.#random() * end)
  }

  one<Value>(values: readonly [Value, ...Value[]]): Value {
    return values[this.below(values.length)] ?? values[0]
  }
}

const summaryMark = DEFAULT_INSTRUCTIONS.slice(0, 40)

export function asksForSummary({ text }: ReceivedRequest): boolean {
  return text.includes(summaryMark)
}

const texts = [
  'Good.',
  'Let me see.\n',
  '  Grüße, 世界 😀 ',
  'A longer answer. '.repeat(12),
  'half \ud83d a pair',
  '\n',
  '{"json": [1, 2]}',
] as const

/** Calls that go well, badly, slowly and nowhere. */
function anyCall(dice: Dice, target: WireTarget): ServedBlock {
  const call = dice.one<Omit<Extract<ServedBlock, { type: 'tool-call' }>, 'type'>>([
    { name: 'fs.read', input: { path: 'a.ts' } },
    { name: 'fs.read', input: { path: 'src/b.ts', lines: 40 } },
    { name: 'fs.read', input: { path: 'c.ts', lines: 12 } },
    { name: 'fs.read', input: { path: 1 } },
    { name: 'fs.read', inputText: '{"path": "a.t' },
    { name: 'fs.read', inputText: '["no object"]' },
    { name: 'constructor', input: {} },
    { name: 'constructor', inputText: '' },
    { name: 'fails', input: {} },
    { name: 'slow', input: {} },
    { name: 'patient', input: { ticks: 20 } },
    { name: 'shot', input: {} },
    { name: 'shot', input: { fails: true } },
    { name: 'missing', input: { any: 'thing' } },
  ])
  return { type: 'tool-call', ...call, name: wireName(call.name, target), ...oddId(dice, target) }
}

/** What the exporter makes of names that providers or packages do not take. */
function wireName(name: string, { toolNames }: Pick<WireTarget, 'toolNames'>): string {
  return toolNames[name] ?? name
}

/** Compatible servers hand out empty ids, one id for every call, and long ones. */
function oddId(dice: Dice, { kind }: WireTarget): { readonly id?: string } {
  if (kind !== 'compatible' && kind !== 'deepseek') return {}
  const id = dice.one([undefined, undefined, '', 'call_1', 'functions.read:0', 'x'.repeat(70)])
  return id === undefined ? {} : { id }
}

function anyThinking(dice: Dice): ServedBlock {
  const isRedacted = dice.chance(0.2)
  return {
    type: 'thinking',
    text: dice.one(['Hm.', ['First.', 'Then.'], '', 'Thinking about it all. '.repeat(6)]),
    ...(isRedacted ? { redacted: true } : {}),
  }
}

/** An answer with or without calls. */
export function anyReply(dice: Dice, target: WireTarget, request: ReceivedRequest, mayCall: boolean): ServedReply {
  const thinks = target.thinks(request.body) && dice.chance(0.7)
  const blocks: ServedBlock[] = []
  if (thinks) blocks.push(anyThinking(dice))
  if (thinks && dice.chance(0.3)) blocks.push(anyThinking(dice))
  if (dice.chance(0.7)) blocks.push({ type: 'text', text: dice.one(texts) })
  if (thinks && dice.chance(0.1)) blocks.push(anyThinking(dice), { type: 'text', text: dice.one(texts) })
  const calls = mayCall ? dice.one([1, 1, 2, 2, 3, 5]) : 0
  for (let at = 0; at < calls; at += 1) blocks.push(anyCall(dice, target))
  if (thinks && calls > 0 && dice.chance(0.1)) blocks.push(anyThinking(dice), anyCall(dice, target))
  const stop = dice.chance(0.06) ? dice.one(['length', 'content-filter'] as const) : undefined
  return { blocks, ...(stop === undefined ? {} : { stop }), ...(dice.chance(0.2) ? { pings: true } : {}) }
}

/** A failure before the answer, or an answer that breaks. */
export function anyTrouble(dice: Dice, reply: ServedReply): ServedAnswer {
  const failure = dice.one<ServedFailure | undefined>([
    undefined,
    undefined,
    undefined,
    { failure: 'rate-limit', retryAfterMs: 2000 },
    { failure: 'overloaded' },
    { failure: 'server-error' },
  ])
  if (failure !== undefined) return failure
  const how = dice.one(['error', 'end', 'cut'] as const)
  return { ...reply, break: { how, after: dice.below(12), ...(dice.chance(0.5) ? { nested: true } : {}) } }
}

/** Words for a summary; now and then none, or a failure. */
export function anySummary(dice: Dice): ServedAnswer {
  if (dice.chance(0.1)) return { failure: 'server-error' }
  return { blocks: [{ type: 'text', text: dice.one(['They read files.', 'Files were read, and more.', ' ']) }] }
}
