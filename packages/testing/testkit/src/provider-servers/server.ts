import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { seededRandom } from '../fs-crash-state.ts'
import { anthropicProtocol } from './anthropic-protocol.ts'
import { anthropicLimits, type AnthropicLimits } from './anthropic-view.ts'
import { chatProtocol } from './chat-protocol.ts'
import { fieldsOf, isFields } from './json.ts'
import {
  wantsStream,
  type AcceptedRequest,
  type DroppedBlock,
  type HttpAnswer,
  type Protocol,
  type ProtocolSettings,
  type ReceivedRequest,
  type RequestOutcome,
  type WireRequest,
} from './protocol.ts'
import { responsesProtocol } from './responses-protocol.ts'
import type { Verdict } from './rule.ts'
import { isReply, type ServedAnswer, type ServedReply } from './script.ts'
import { countTokens } from './tokens.ts'
import { writeInPieces } from './write-in-pieces.ts'

export type ProviderKind = 'anthropic' | 'openai-chat' | 'openai-responses' | 'deepseek' | 'compatible'

/** Answers in order, or a function of the request and its place `n` among the accepted ones. */
export type ServerScript =
  | readonly ServedAnswer[]
  | ((request: ReceivedRequest, n: number) => ServedAnswer | Promise<ServedAnswer>)

export interface ProviderServerOptions {
  readonly kind: ProviderKind
  readonly script: ServerScript
  /** Also refuses what only some deployments refuse. */
  readonly strict?: boolean
  /** Tokens, as `countTokens` counts, that a prompt may have. */
  readonly contextTokens?: number
  /** Ids of the models that exist. */
  readonly models?: readonly string[]
  /** Of ids and of the cuts between TCP writes. */
  readonly seed?: number
  /** Servers of one organisation take each other's signatures and encrypted items. */
  readonly organisation?: string
  /** Rules that are not enforced, to see a test fail without them. */
  readonly withoutRules?: readonly string[]
  /** Anthropic: what happens to a thinking block whose prefix changed; a request may override it. */
  readonly prefixMismatch?: 'refuse' | 'drop'
  /** Anthropic: binds thinking to its prefix for every model, not only for those that are known to. */
  readonly prefixBindsAllModels?: boolean
  /** Anthropic: smaller limits than the real ones (32 MiB, 100,000 messages, images of 10 MiB in base64). */
  readonly limits?: Partial<AnthropicLimits>
}

export interface Refusal {
  /** Index of the request. */
  readonly request: number
  readonly rule: string
  readonly status: number
  readonly message: string
}

export interface ProviderServer extends AsyncDisposable {
  /** What the provider's client takes as base URL. */
  readonly baseURL: string
  readonly requests: readonly ReceivedRequest[]
  readonly refusals: readonly Refusal[]
  readonly dropped: readonly DroppedBlock[]
  /** Resolves when no request is under way. */
  settled(): Promise<void>
  /** Cuts what is under way and frees the port. */
  close(): Promise<void>
}

/** Bytes of a body that are kept; longer ones are counted and refused. */
const keptBytes = 64 * 1024 * 1024

function protocolOf(options: ProviderServerOptions, settings: ProtocolSettings): Protocol {
  const { kind, prefixMismatch = 'refuse', prefixBindsAllModels = false } = options
  const limits = { ...anthropicLimits, ...options.limits }
  if (kind === 'anthropic') return anthropicProtocol({ ...settings, prefixMismatch, prefixBindsAllModels, limits })
  if (kind === 'openai-responses') return responsesProtocol(settings)
  return chatProtocol(kind === 'openai-chat' ? 'openai' : kind, settings)
}

async function readRequest(incoming: IncomingMessage, index: number): Promise<WireRequest> {
  const chunks: Buffer[] = []
  let length = 0
  for await (const chunk of incoming as AsyncIterable<Buffer>) {
    length += chunk.length
    if (length <= keptBytes) chunks.push(chunk)
  }
  const bytes = Buffer.concat(chunks)
  const text = bytes.toString('utf8')
  let parsed: unknown
  try {
    parsed = JSON.parse(text)
  } catch {
    parsed = undefined
  }
  const path = new URL(incoming.url ?? '/', 'http://loopback').pathname
  return {
    index,
    path,
    headers: incoming.headers,
    text,
    body: fieldsOf(parsed),
    tokens: countTokens(parsed),
    bytes,
    length,
    isJsonObject: isFields(parsed),
    outcome: 'pending',
  }
}

/**
 * Starts an HTTP server on 127.0.0.1 that speaks a provider's wire format, refuses what the provider refuses, and
 * answers the rest as scripted. The tables of rules are its own, so that a mistake cannot hide in both sides of a test.
 * The caller closes it.
 */
export async function startProviderServer(options: ProviderServerOptions): Promise<ProviderServer> {
  const random = seededRandom(options.seed ?? 1)
  const protocol = protocolOf(options, {
    strict: options.strict ?? false,
    withoutRules: options.withoutRules ?? [],
    contextTokens: options.contextTokens,
    models: options.models,
    organisation: options.organisation ?? 'loopback',
    random,
  })
  const requests: WireRequest[] = []
  const refusals: Refusal[] = []
  const dropped: DroppedBlock[] = []
  const underWay = new Set<Promise<void>>()
  let received = 0
  let accepted = 0

  async function scripted(request: WireRequest, n: number): Promise<ServedAnswer> {
    if (typeof options.script === 'function') return options.script(request, n)
    return (
      options.script[n] ?? {
        status: 500,
        error: {
          message: `The script has no answer for accepted request ${n}: it ends after ${options.script.length}.`,
        },
      }
    )
  }

  async function send(response: ServerResponse, answer: HttpAnswer): Promise<void> {
    response.writeHead(answer.status, answer.headers)
    await writeInPieces(response, answer.frames.join(''), random)
    response.end()
  }

  /** A client that left first stays `disconnected`. */
  function end(request: WireRequest, outcome: RequestOutcome): void {
    if (request.outcome === 'pending') request.outcome = outcome
  }

  function refuse(request: WireRequest, { rule, fault }: Verdict): HttpAnswer {
    request.outcome = 'refused'
    refusals.push({ request: request.index, rule, status: fault.status ?? 400, message: fault.message })
    return protocol.refusal(fault, request)
  }

  async function reply(
    response: ServerResponse,
    request: WireRequest,
    { answer }: AcceptedRequest,
    script: ServedReply,
    n: number,
    gone: Promise<void>,
  ): Promise<void> {
    const { events, whole, headers, errorEvents } = answer(script, n)
    if (!wantsStream(request)) {
      response.writeHead(200, { ...headers, 'content-type': 'application/json' })
      await writeInPieces(response, JSON.stringify(whole), random)
      response.end()
      end(request, 'answered')
      return
    }
    const { break: broken } = script
    const sent = broken === undefined ? events : events.slice(0, broken.after)
    const tail = broken?.how === 'error' ? errorEvents(broken) : []
    const staysSilent = broken?.after === 0 && (broken.how === 'cut' || broken.how === 'hang')
    if (!staysSilent) {
      response.writeHead(200, { ...headers, 'content-type': 'text/event-stream; charset=utf-8' })
      response.flushHeaders()
      await writeInPieces(response, [...sent, ...tail].join(''), random)
    }
    if (broken?.how === 'hang') {
      await gone
      return
    }
    end(request, broken === undefined ? 'answered' : 'broken')
    if (broken?.how === 'cut') response.socket?.destroy()
    else response.end()
  }

  async function handle(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const request = await readRequest(incoming, received++)
    requests.push(request)
    const gone = new Promise<void>((resolve) => {
      response.once('close', () => {
        end(request, 'disconnected')
        resolve()
      })
    })
    if (incoming.method !== 'POST' || !protocol.paths.includes(request.path)) {
      const fault = {
        message: `No such route: ${String(incoming.method)} ${request.path}`,
        status: 404,
        type: 'not_found_error',
      }
      return send(response, refuse(request, { rule: 'route', fault }))
    }
    const judged = protocol.judge(request)
    if ('fault' in judged) return send(response, refuse(request, judged))
    dropped.push(...judged.dropped)
    const n = accepted++
    const answer = await scripted(request, n)
    if (answer.delayMs !== undefined) await new Promise((resolve) => setTimeout(resolve, answer.delayMs))
    if (isReply(answer)) return reply(response, request, judged, answer, n, gone)
    end(request, 'failed')
    return send(response, protocol.failure(answer, request))
  }

  const server = createServer((incoming, response) => {
    response.on('error', () => undefined)
    const done = handle(incoming, response)
      // A script that throws is a broken test: the client is told, in a form that no retry takes for the provider's.
      .catch((error: unknown) => {
        if (!response.headersSent) response.writeHead(500, { 'content-type': 'text/plain' })
        response.end(`The provider server failed: ${String(error)}`)
      })
      .finally(() => underWay.delete(done))
    underWay.add(done)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')

  const settled = async (): Promise<void> => {
    while (underWay.size > 0) await Promise.all(underWay)
  }
  const close = async (): Promise<void> => {
    if (!server.listening) return
    const closed = once(server, 'close')
    server.close()
    server.closeAllConnections()
    await closed
    await settled()
  }
  return {
    // A server that listens on TCP has an address of this form.
    baseURL: `http://127.0.0.1:${(server.address() as AddressInfo).port}${protocol.basePath}`,
    requests,
    refusals,
    dropped,
    settled,
    close,
    [Symbol.asyncDispose]: close,
  }
}
