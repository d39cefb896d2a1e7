import type { IncomingHttpHeaders } from 'node:http'
import type { Fields } from './json.ts'
import type { Fault, RuleSwitches, Verdict } from './rule.ts'
import type { ServedBreak, ServedFailure, ServedReply } from './script.ts'

/** How a request ended for the server. `disconnected`: the client went away first. */
export type RequestOutcome = 'pending' | 'refused' | 'failed' | 'answered' | 'broken' | 'disconnected'

export interface ReceivedRequest {
  /** Place among all requests of the server, from 0. */
  readonly index: number
  readonly path: string
  readonly headers: Readonly<IncomingHttpHeaders>
  /** The body as text, and parsed; `{}` when it was not a JSON object. */
  readonly text: string
  readonly body: Fields
  /** `countTokens` of the body. */
  readonly tokens: number
  readonly outcome: RequestOutcome
}

/** A request as the rules see it. */
export interface WireRequest extends ReceivedRequest {
  readonly bytes: Uint8Array
  /** The length that was sent, also of a body that was too long to keep. */
  readonly length: number
  readonly isJsonObject: boolean
  outcome: RequestOutcome
}

/** A block that the server ignored without an error, as the provider does. */
export interface DroppedBlock {
  /** Index of the request. */
  readonly request: number
  readonly rule: string
  readonly message: number
  readonly block: number
}

/** What every protocol is told about its server. */
export interface ProtocolSettings extends RuleSwitches {
  /** Tokens of the prompt that the models take; no limit when absent. */
  readonly contextTokens: number | undefined
  /** Model ids that exist; every plausible one when absent. */
  readonly models: readonly string[] | undefined
  /** Secret of signatures and encrypted items: servers with the same one take each other's. */
  readonly organisation: string
  /** Seeded; for ids and the sizes of deltas. */
  readonly random: () => number
}

/** A response in one piece or in frames. */
export interface HttpAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly frames: readonly string[]
}

/** An accepted request's answer in both forms. */
export interface ProtocolAnswer {
  readonly events: readonly string[]
  readonly whole: Fields
  readonly headers: Readonly<Record<string, string>>
  /** Events of a break of kind `error`. */
  readonly errorEvents: (one: ServedBreak) => readonly string[]
}

export interface AcceptedRequest {
  readonly dropped: readonly DroppedBlock[]
  /** `n` is the place among the accepted requests. Called once. */
  readonly answer: (reply: ServedReply, n: number) => ProtocolAnswer
}

/** A provider: its paths, its table of rules and its forms of answer and error. Knows nothing of sockets. */
export interface Protocol {
  /** What follows the origin in the base URL that clients take. */
  readonly basePath: string
  readonly paths: readonly string[]
  readonly judge: (request: WireRequest) => Verdict | AcceptedRequest
  readonly refusal: (fault: Fault, request: WireRequest) => HttpAnswer
  readonly failure: (failure: ServedFailure, request: WireRequest) => HttpAnswer
}

/** Whether the client asked for a stream. */
export function wantsStream({ body }: ReceivedRequest): boolean {
  return body['stream'] === true
}

/** `text` in pieces of one to twelve characters, as models emit it; never between the halves of a pair. */
export function pieces(text: string, random: () => number): readonly string[] {
  const characters = Array.from(text)
  // Long texts in larger pieces: what is shown does not need a thousand events.
  const most = Math.max(12, Math.ceil(characters.length / 40))
  const found: string[] = []
  for (let at = 0; at < characters.length;) {
    const size = 1 + Math.floor(random() * most)
    found.push(characters.slice(at, at + size).join(''))
    at += size
  }
  return found
}

/** Ids as providers make them: a prefix and a tail that differs per server, request and use. */
export function idMaker(random: () => number): (prefix: string) => string {
  return (prefix) =>
    prefix +
    Array.from({ length: 3 }, () =>
      Math.floor(random() * 0x1_0000_0000)
        .toString(16)
        .padStart(8, '0'),
    ).join('')
}
