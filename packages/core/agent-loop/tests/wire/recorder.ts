import type { LanguageModelV4 } from '@ai-sdk/provider'
import type { LanguageModelAdapterOptions } from '@palimpsest/provider-messages'
import { languageModelAdapter } from '@palimpsest/provider-messages'
import type { Message, RequestHeader } from '@palimpsest/session'
import type { ModelAdapter } from '../../src/index.ts'
import type { Wire, WireTarget } from './targets.ts'

/** One request of the loop: what the adapter was given, and the bytes that the package sent for it. */
export interface SentRequest {
  /** Of its `request/start`. */
  readonly seq: number
  readonly target: WireTarget
  readonly header: RequestHeader
  readonly messages: readonly Message[]
  /** `undefined` where the turn was aborted before anything left. */
  text: string | undefined
  body: Wire
}

/** Says which request of the loop a body belongs to; taken off before it leaves. */
const numberHeader = 'x-wire-request'

/** Sits between loop, package and server, and keeps what goes through. */
export class WireRecorder {
  readonly sent: SentRequest[] = []
  /** Every body that any model of the test sent, by the origin it went to, in order. */
  readonly bodies: { readonly origin: string; readonly text: string }[] = []
  /** Called with what came of a response's body so far; mid-stream aborts are made of it. */
  onChunk: (received: string) => void = () => undefined
  readonly #numbered = new Map<string, SentRequest>()
  #count = 0

  /** The adapter for a loop; it records what it is given. */
  adapter(target: WireTarget, options: LanguageModelAdapterOptions): ModelAdapter {
    const inner = languageModelAdapter(options)
    return {
      classifyError: (error) => inner.classifyError(error),
      toPrompt: async (request) => {
        const { session, header, messages } = request
        const seq = session.events.findLastIndex(({ type }) => type === 'request/start')
        const exported = await inner.toPrompt(request)
        this.sent.push({ seq, target, header, messages, text: undefined, body: {} })
        return exported
      },
    }
  }

  /** The model of a loop: what it sends is bound to the request that the adapter wrote last. */
  model(target: WireTarget, baseURL: string): LanguageModelV4 {
    const model = target.model(baseURL, this.#fetch)
    const { specificationVersion, provider, modelId } = model
    return {
      specificationVersion,
      provider,
      modelId,
      supportedUrls: model.supportedUrls,
      doGenerate: (options) => model.doGenerate(options),
      doStream: (options) => {
        const number = String((this.#count += 1))
        const sent = this.sent.at(-1)
        if (sent !== undefined) this.#numbered.set(number, sent)
        return model.doStream({ ...options, headers: { ...options.headers, [numberHeader]: number } })
      },
    }
  }

  /** A model beside the loop, for summaries. */
  sideModel(target: WireTarget, baseURL: string): LanguageModelV4 {
    return target.model(baseURL, this.#fetch)
  }

  readonly #fetch: typeof globalThis.fetch = async (input, init) => {
    const text = init?.body as string
    this.bodies.push({ origin: new URL(String(input instanceof Request ? input.url : input)).origin, text })
    const headers = new Headers(init?.headers)
    const sent = this.#numbered.get(headers.get(numberHeader) ?? '')
    headers.delete(numberHeader)
    if (sent !== undefined) {
      sent.text = text
      sent.body = JSON.parse(text) as Wire
    }
    const response = await fetch(input, { ...init, headers })
    if (sent === undefined || response.body === null) return response
    let received = ''
    const decoder = new TextDecoder()
    const counted = new TransformStream<Uint8Array, Uint8Array>({
      transform: (chunk, controller) => {
        controller.enqueue(chunk)
        received += decoder.decode(chunk, { stream: true })
        this.onChunk(received)
      },
    })
    return new Response(response.body.pipeThrough(counted), response)
  }
}
