import type { JsonObject } from '@palimpsest/session'
import { isObject, isTooDeep, stringMember } from '../json.ts'
import type { LooseObject } from '../json.ts'
import type { KeptLine, ReadLine } from '../conversation/source-lines.ts'
import { lineText, parseLine, readLines } from '../lines.ts'
import { readJsonLine } from '../conversation/source-lines.ts'
import { detectMessages } from './detect-messages.ts'
import type { MessageShape } from './kept.ts'
import { memberSpans } from './spans.ts'
import type { MemberSpan } from './spans.ts'

/** The messages of one conversation, and what a request says beside them. */
export interface MessageBody {
  /** Where it stands among several of one file: the line, from 1. Absent for the only one. */
  readonly nth?: number
  readonly shape: MessageShape
  /** Elements of the array, numbered from 1; for one message on each line, the lines. */
  readonly elements: readonly ReadLine[]
  /** Members of the request other than the array. */
  readonly request: LooseObject
}

/** The conversations of a file: one JSON value, or one value on each line. A request on a line of its own is its own. */
export async function readBodies(bytes: Uint8Array): Promise<MessageBody[]> {
  const text = lineText(bytes)
  const whole = text === undefined ? undefined : parseLine(text)
  if (text !== undefined && whole !== undefined) return [bodyOf(whole, text, 0)]
  const bodies: MessageBody[] = []
  const others: ReadLine[] = []
  for await (const line of readLines(once(bytes))) {
    const read = readJsonLine(line)
    const isBody = read.kind === 'object' && arrayName(read.value) !== undefined
    if (isBody) bodies.push({ ...bodyOf(read.value, read.kept.text, read.kept.offset), nth: line.line })
    else others.push(read)
  }
  if (bodies.length > 0 && others.every(({ kind }) => kind === 'blank')) return bodies
  const values = others.flatMap((read) => (read.kind === 'object' ? [read.value] : []))
  return [{ shape: detectMessages(values) ?? 'openai-chat', elements: others, request: {} }, ...bodies]
}

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield await Promise.resolve(bytes)
}

function arrayName(value: LooseObject): 'messages' | 'input' | undefined {
  if (Array.isArray(value['messages'])) return 'messages'
  return Array.isArray(value['input']) || typeof value['input'] === 'string' ? 'input' : undefined
}

/** The one conversation of a JSON value. `offset` is where its text stands in the file. */
export function bodyOf(value: unknown, text: string, offset: number): MessageBody {
  const shape = detectMessages(value) ?? 'openai-chat'
  const clock = new Offsets(text, offset)
  if (Array.isArray(value))
    return { shape, elements: elementsOf(value, text, memberSpans(text, 0), clock), request: {} }
  const name = isObject(value) ? arrayName(value) : undefined
  if (!isObject(value) || name === undefined) {
    const start = text.search(/[^\s\uFEFF]/)
    return { shape, elements: elementsOf([value], text, [{ start, end: text.trimEnd().length }], clock), request: {} }
  }
  const { [name]: list, ...request } = value
  // Of members that stand there twice the parser takes the last.
  const place = memberSpans(text, 0).findLast((span) => span.name === name) ?? { start: 0, end: 0 }
  if (!Array.isArray(list)) {
    return { shape, elements: elementsOf([{ role: 'user', content: list }], text, [place], clock), request }
  }
  return { shape, elements: elementsOf(list, text, memberSpans(text, place.start), clock), request }
}

function elementsOf(
  values: readonly unknown[],
  text: string,
  spans: readonly MemberSpan[],
  offsets: Offsets,
): ReadLine[] {
  return spans.map(({ start, end }, index): ReadLine => {
    const value = values[index]
    const time = isObject(value) ? Date.parse(stringMember(value, 'createdAt') ?? '') : NaN
    const kept: KeptLine = {
      line: index + 1,
      offset: offsets.of(start),
      text: text.slice(start, end),
      ...(Number.isSafeInteger(time) ? { time } : {}),
    }
    if (!isObject(value)) return { kind: 'foreign', kept, reason: 'line/not-object' }
    return isTooDeep(value) ? { kind: 'foreign', kept, reason: 'line/too-deep' } : { kind: 'object', kept, value }
  })
}

/** Byte offsets of ascending places of a text. */
class Offsets {
  readonly #text: string
  #place = 0
  #offset: number

  constructor(text: string, offset: number) {
    this.#text = text
    this.#offset = offset
  }

  of(place: number): number {
    this.#offset += Buffer.byteLength(this.#text.slice(this.#place, place))
    this.#place = place
    return this.#offset
  }
}

/** Settings of a request under the names that a session has for them, and the members that it has no place for. */
export function settingsOf(request: LooseObject): { config: JsonObject; leftOut: string[] } {
  const config: Record<string, JsonObject[string]> = {}
  const leftOut: string[] = []
  for (const [name, value] of Object.entries(request)) {
    const known = settings.get(name)
    const effort = name === 'reasoning' && isObject(value) ? stringMember(value, 'effort') : undefined
    if (effort !== undefined) config['reasoningEffort'] = effort
    if (known?.[1](value) === true) config[known[0]] = value as JsonObject[string]
    else if (!own.has(name) && (effort === undefined || Object.keys(value as object).length > 1)) leftOut.push(name)
  }
  return { config, leftOut }
}

const isCount = (value: unknown): boolean => Number.isSafeInteger(value) && (value as number) > 0
const isNumber = (value: unknown): boolean => Number.isFinite(value) && !Object.is(value, -0)
const isTexts = (value: unknown): boolean => Array.isArray(value) && value.every((text) => typeof text === 'string')
const isText = (value: unknown): boolean => typeof value === 'string'

const settings: ReadonlyMap<string, readonly [string, (value: unknown) => boolean]> = new Map([
  ['temperature', ['temperature', isNumber]],
  ['max_tokens', ['maxTokens', isCount]],
  ['max_completion_tokens', ['maxTokens', isCount]],
  ['max_output_tokens', ['maxTokens', isCount]],
  ['stop', ['stop', isTexts]],
  ['stop_sequences', ['stop', isTexts]],
  ['reasoning_effort', ['reasoningEffort', isText]],
])

/** Members that are read elsewhere. */
const own: ReadonlySet<string> = new Set(['model', 'system', 'instructions'])
