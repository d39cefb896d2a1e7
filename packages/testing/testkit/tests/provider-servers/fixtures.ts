import {
  startProviderServer,
  type ProviderKind,
  type ProviderServer,
  type ProviderServerOptions,
} from '@palimpsest/testkit'
import { expect } from 'vitest'

export type Body = Readonly<Record<string, unknown>>
/** Sends a body without a stream and gives the whole answer. */
export type Ask = (body: Body) => Promise<Body>
/** A body, a body as text, or one that needs earlier answers of the server. */
export type Sent = Body | string | Uint8Array | ((ask: Ask) => Promise<Body> | Body)

/** A request that a rule refuses, and its neighbour that no rule does. */
export interface Fixture {
  readonly rule: string
  readonly refused: Sent
  readonly accepted: Sent
  readonly options?: Partial<ProviderServerOptions>
  readonly status?: number
  /** Part of the error object that the provider answers. */
  readonly error: Body
}

const routes: Readonly<Record<ProviderKind, string>> = {
  anthropic: '/messages',
  'openai-chat': '/chat/completions',
  'openai-responses': '/responses',
  deepseek: '/chat/completions',
  compatible: '/chat/completions',
}

export function post(
  server: ProviderServer,
  kind: ProviderKind,
  body: unknown,
  signal: AbortSignal | null = null,
): Promise<Response> {
  const isRaw = typeof body === 'string' || body instanceof Uint8Array
  const sent = isRaw ? (body as string | Uint8Array<ArrayBuffer>) : JSON.stringify(body)
  return fetch(server.baseURL + routes[kind], {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: sent,
    signal,
  })
}

async function send(server: ProviderServer, kind: ProviderKind, sent: Sent): Promise<Response> {
  if (typeof sent !== 'function') return post(server, kind, sent)
  const ask: Ask = async (body) => {
    const response = await post(server, kind, { ...body, stream: false })
    const answer = (await response.json()) as Body
    expect(response.status, JSON.stringify(answer)).toBe(200)
    return answer
  }
  return post(server, kind, await sent(ask))
}

function start(kind: ProviderKind, fixture: Fixture, withoutRules: readonly string[]): Promise<ProviderServer> {
  return startProviderServer({
    kind,
    script: () => ({ blocks: [{ type: 'text', text: 'ok' }] }),
    ...fixture.options,
    withoutRules,
  })
}

/** Throws unless the provider's refusal comes, by this rule and in these words. */
export async function expectRefusal(
  kind: ProviderKind,
  fixture: Fixture,
  withoutRules: readonly string[] = [],
): Promise<void> {
  await using server = await start(kind, fixture, withoutRules)
  const response = await send(server, kind, fixture.refused)
  const text = await response.text()
  expect({ status: response.status, rule: server.refusals.at(-1)?.rule }, text).toEqual({
    status: fixture.status ?? 400,
    rule: fixture.rule,
  })
  const body = JSON.parse(text.startsWith('{') ? text : (text.split('data: ').at(-1) ?? '')) as Body
  expect(body['error']).toMatchObject(fixture.error)
}

/** Throws unless the server answers. */
export async function expectAnswer(kind: ProviderKind, fixture: Fixture): Promise<void> {
  await using server = await start(kind, fixture, [])
  const response = await send(server, kind, fixture.accepted)
  expect(response.status, await response.text()).toBe(200)
}

/** An expected text that holds these words. */
export function words(text: string): unknown {
  return expect.stringContaining(text)
}
