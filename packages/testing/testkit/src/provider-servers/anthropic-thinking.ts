import { createHmac } from 'node:crypto'
import { blocksOf, isThinking, type AnthropicView, type PlacedBlock } from './anthropic-view.ts'
import { canonical, fieldsOf, isFields, stringOf, type Fields } from './json.ts'

/** What a signature holds: who made the block, its place in its answer, and seals on its text and on all before it. */
interface Seal {
  readonly family: string
  readonly answer: string
  readonly index: number
  readonly text: string
  readonly prefix: string
}

/** Marks of the transport that are no part of the conversation. */
const unbound = new Set(['cache_control', 'caller', 'citations'])

function hmac(organisation: string, ...parts: readonly string[]): string {
  return createHmac('sha256', organisation).update(JSON.stringify(parts)).digest('base64')
}

/** One spelling per block, whatever shorthand it came in; `undefined` for an empty text, which clients leave out. */
function spelling(role: string, block: Fields): string | undefined {
  if (block['type'] === 'text' && block['text'] === '') return undefined
  if (block['type'] === 'tool_result') {
    const { content, is_error: isError, ...rest } = block
    return canonical([role, { ...rest, isError: isError === true, content: blocksOf(content) }], unbound)
  }
  return canonical([role, block], unbound)
}

/** Everything before the messages: `system` and `tools`. */
function head({ system, tools }: AnthropicView): readonly string[] {
  return [
    canonical(
      system.filter(({ text }) => text !== ''),
      unbound,
    ),
    canonical(
      tools.map((tool) => ({ type: 'custom', ...tool })),
      unbound,
    ),
  ]
}

function decode(token: string): Seal | undefined {
  try {
    const seal: unknown = JSON.parse(Buffer.from(token, 'base64').toString())
    return isFields(seal) && typeof seal['prefix'] === 'string' ? (seal as unknown as Seal) : undefined
  } catch {
    return undefined
  }
}

/** The conversation as the model reads it; each thinking block is sealed to what precedes it. */
export class ThinkingPrefix {
  /** A chain of digests: checking a long conversation stays linear. */
  #digest = ''
  readonly #organisation: string

  constructor(view: AnthropicView) {
    this.#organisation = view.settings.organisation
    for (const part of head(view)) this.#append(part)
  }

  add(role: string, block: Fields): void {
    const part = spelling(role, block)
    if (part !== undefined) this.#append(part)
  }

  #append(part: string): void {
    this.#digest = hmac(this.#organisation, this.#digest, part)
  }

  /** A signature for thinking that comes next. */
  sign(family: string, answer: string, index: number, text: string): string {
    const seal: Seal = {
      family,
      answer,
      index,
      text: hmac(this.#organisation, family, answer, String(index), text),
      prefix: this.#digest,
    }
    return Buffer.from(JSON.stringify(seal)).toString('base64')
  }

  isBoundHere(seal: Seal): boolean {
    return seal.prefix === this.#digest
  }

  isGenuine({ family, answer, index, text: seal }: Seal, text: string): boolean {
    return seal === hmac(this.#organisation, family, answer, String(index), text)
  }
}

export interface ThinkingFinding {
  readonly block: PlacedBlock
  /** `modified`: not as it was made. `moved`: its prefix changed. `foreign`: another model's, which is ignored. */
  readonly kind: 'modified' | 'moved' | 'foreign'
}

export interface ThinkingState {
  readonly findings: readonly ThinkingFinding[]
  /** The effective conversation, to sign what comes next. */
  readonly prefix: ThinkingPrefix
}

/** A block of the family that answers now, which the provider holds to its place. */
function findingOf(
  view: AnthropicView,
  prefix: ThinkingPrefix,
  block: PlacedBlock,
  seal: Seal | undefined,
): ThinkingFinding['kind'] | undefined {
  const isRedacted = block.type === 'redacted_thinking'
  if (seal === undefined || !prefix.isGenuine(seal, isRedacted ? '' : stringOf(block.fields['thinking'])))
    return 'modified'
  if (seal.family !== view.model?.family) return 'foreign'
  return isBinding(view) && !prefix.isBoundHere(seal) ? 'moved' : undefined
}

function blockBinding({ body }: AnthropicView): unknown {
  return fieldsOf(fieldsOf(body['thinking'])['block_binding'])['prefix_mismatch_behavior']
}

function isBinding(view: AnthropicView): boolean {
  return view.settings.prefixBindsAllModels || view.model?.prefixBound === true || blockBinding(view) !== undefined
}

/** Whether the provider ignores a block with a changed prefix, rather than refusing it. */
export function dropsMoved(view: AnthropicView): boolean {
  const wish = blockBinding(view)
  return wish === undefined ? view.settings.prefixMismatch === 'drop' : wish === 'drop_block'
}

/** Checks every thinking block that comes back, in order. What is ignored is no part of the prefix of the next ones. */
export function checkThinking(view: AnthropicView): ThinkingState {
  const prefix = new ThinkingPrefix(view)
  const findings: ThinkingFinding[] = []
  const latest = view.turns.findLast(({ role }) => role === 'assistant')
  let expected = { answer: '', index: 0 }
  for (const block of view.blocks) {
    if (!isThinking(block)) {
      prefix.add(block.role, block.fields)
      continue
    }
    const seal = decode(stringOf(block.fields[block.type === 'thinking' ? 'signature' : 'data']))
    let kind = findingOf(view, prefix, block, seal)
    const wanted = seal?.answer === expected.answer ? expected.index : 0
    if (kind !== 'foreign' && latest?.blocks.includes(block) === true && seal?.index !== wanted) kind = 'modified'
    if (seal !== undefined) expected = { answer: seal.answer, index: seal.index + 1 }
    if (kind === undefined) prefix.add(block.role, block.fields)
    else findings.push({ block, kind })
  }
  return { findings, prefix }
}

/** The seal of a `compaction` block: on its content alone. */
export function signCompaction(organisation: string, content: unknown): string {
  return hmac(organisation, 'compaction', canonical(content))
}
