import { createHmac } from 'node:crypto'
import { isFields, stringOf, type Fields } from './json.ts'

interface StoredResponse {
  /** Input and output, with those of the responses it continues. */
  readonly items: readonly Fields[]
}

/** What the provider knows of earlier answers: stored ones whole, of others only what their ids and seals say. */
export class ResponsesMemory {
  readonly #organisation: string
  readonly #responses = new Map<string, StoredResponse>()
  readonly #items = new Map<string, Fields>()
  /** Of a call that was reasoned about: the reasoning item that must come back with it. */
  readonly #reasonOf = new Map<string, string>()

  constructor(organisation: string) {
    this.#organisation = organisation
  }

  /** `undefined` when there is none, or when it was not stored. */
  response(id: string): StoredResponse | undefined {
    return this.#responses.get(id)
  }

  item(id: string): Fields | undefined {
    return this.#items.get(id)
  }

  reasonOf(callItemId: string): string | undefined {
    return this.#reasonOf.get(callItemId)
  }

  remember(id: string, input: readonly Fields[], output: readonly Fields[], isStored: boolean): void {
    let reason: string | undefined
    for (const item of output) {
      if (item['type'] === 'reasoning') reason = stringOf(item['id'])
      if (item['type'] === 'function_call' && reason !== undefined) this.#reasonOf.set(stringOf(item['id']), reason)
    }
    if (!isStored) return
    this.#responses.set(id, { items: [...input, ...output] })
    for (const item of output) this.#items.set(stringOf(item['id']), item)
  }

  /** Encrypted reasoning of one item: opaque to the client, bound to the item and the organisation. */
  encrypt(itemId: string, text: string): string {
    const payload = Buffer.from(JSON.stringify({ itemId, text })).toString('base64url')
    return `gAAAA${payload}.${this.#seal(payload)}`
  }

  isGenuine(encrypted: string, itemId: unknown): boolean {
    const [payload = '', seal] = encrypted.slice('gAAAA'.length).split('.')
    if (seal !== this.#seal(payload)) return false
    const content: unknown = JSON.parse(Buffer.from(payload, 'base64url').toString())
    return isFields(content) && (itemId === undefined || itemId === null || content['itemId'] === itemId)
  }

  #seal(payload: string): string {
    return createHmac('sha256', this.#organisation).update(payload).digest('base64url')
  }
}
