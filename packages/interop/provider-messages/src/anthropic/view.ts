import { jsonBytes } from '../shared/body.ts'
import { elements, isRecord, member } from '../shared/json-reader.ts'
import type { UnknownRecord } from '../shared/json-reader.ts'
import type { CheckConfig } from '../shared/rule.ts'
import { runs } from '../shared/runs.ts'
import { ANTHROPIC_LIMITS } from './limits.ts'
import type { AnthropicLimits } from './limits.ts'
import { claudeModel } from './models.ts'
import type { ClaudeModel } from './models.ts'

/** Configuration of `validateAnthropic`. */
export interface AnthropicCheckConfig extends CheckConfig {
  /** Thinking configuration; default: the request's own `thinking`. */
  readonly thinking?: unknown
  /** Sizes other than `ANTHROPIC_LIMITS`, and the model's cap on output tokens, which nothing else can know. */
  readonly limits?: Partial<AnthropicLimits> & { readonly maxOutputTokens?: number }
}

export interface BlockView {
  readonly path: string
  readonly type: string
  readonly value: UnknownRecord
}

/** One element of `messages` that is an object. */
export interface ItemView {
  readonly path: string
  readonly role: string
  readonly blocks: readonly BlockView[]
  readonly value: UnknownRecord
  /** A system item that only carries `output_config`: the API takes it at any position. */
  readonly isDirective: boolean
}

/** Consecutive items of one role, which the API merges. */
export interface TurnView {
  readonly role: string
  readonly path: string
  readonly items: readonly ItemView[]
  readonly blocks: readonly BlockView[]
}

/** A request as the rules read it: what is malformed is left out here and is named by rule `A0`. */
export interface AnthropicView {
  readonly request: unknown
  readonly items: readonly ItemView[]
  readonly turns: readonly TurnView[]
  /** Text blocks of the top-level `system`. */
  readonly system: readonly BlockView[]
  readonly model: ClaudeModel | undefined
  readonly thinking: unknown
  readonly limits: AnthropicLimits & { readonly maxOutputTokens?: number }
  /** UTF-8 bytes of the body; `undefined` when the value is no JSON. */
  readonly bytes: () => number | undefined
}

/** Reads a parsed request body of any shape. Never throws. */
export function viewAnthropic(request: unknown, config: AnthropicCheckConfig): AnthropicView {
  const items = elements(member(request, 'messages')).flatMap((value, index) => readItem(value, `messages.${index}`))
  const model = config.model ?? member(request, 'model')
  return {
    request,
    items,
    turns: mergeTurns(items.filter((item) => !item.isDirective)),
    system: readContent(member(request, 'system'), 'system'),
    model: typeof model === 'string' ? claudeModel(model) : undefined,
    thinking: config.thinking ?? member(request, 'thinking'),
    limits: { ...ANTHROPIC_LIMITS, ...config.limits },
    bytes: () => jsonBytes(request),
  }
}

/** Every block of the conversation, and the blocks inside tool results. */
export function* allBlocks(items: readonly ItemView[]): Generator<BlockView> {
  for (const item of items) {
    for (const block of item.blocks) {
      yield block
      if (block.type === 'tool_result') yield* nestedBlocks(block)
    }
  }
}

/** The blocks inside a tool result. */
export function nestedBlocks(result: BlockView): BlockView[] {
  return readContent(member(result.value, 'content'), `${result.path}.content`)
}

export function blocksOf(turn: TurnView | undefined, type: string): BlockView[] {
  return turn === undefined ? [] : turn.blocks.filter((block) => block.type === type)
}

export function textOf(value: unknown, name: string): string {
  const text = member(value, name)
  return typeof text === 'string' ? text : ''
}

function readItem(value: unknown, path: string): ItemView[] {
  const role = member(value, 'role')
  if (!isRecord(value) || typeof role !== 'string') return []
  const content = member(value, 'content')
  const blocks = readContent(content, `${path}.content`)
  const isDirective =
    role === 'system' && Array.isArray(content) && content.length === 0 && member(value, 'output_config') !== undefined
  return [{ path, role, blocks, value, isDirective }]
}

function readContent(content: unknown, path: string): BlockView[] {
  if (typeof content === 'string') return content === '' ? [] : [{ path, type: 'text', value: { text: content } }]
  return elements(content).flatMap((value, index) => {
    const type = member(value, 'type')
    return isRecord(value) && typeof type === 'string' ? [{ path: `${path}.${index}`, type, value }] : []
  })
}

function mergeTurns(items: readonly ItemView[]): TurnView[] {
  return runs(items, (first, next) => first.role === next.role).map((run) => {
    const [{ role, path }] = run
    return { role, path, items: run, blocks: run.flatMap((item) => item.blocks) }
  })
}
