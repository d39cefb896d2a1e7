/** Requests of Anthropic Messages, from small parts. */
import type { ServedBlock } from '@palimpsest/testkit'
import type { Ask, Body } from './fixtures.ts'

export type Block = Body

export const ofModel = (model: string, more: Body = {}): Body => ({
  model,
  max_tokens: 100,
  messages: [user('hi')],
  ...more,
})
export const withMore = (more: Body): Body => ofModel('claude-opus-4-8', more)
export const says = (...messages: Body[]): Body => withMore({ messages })
export const user = (content: unknown): Body => ({ role: 'user', content })
export const assistant = (content: unknown): Body => ({ role: 'assistant', content })
export const system = (content: unknown, more: Body = {}): Body => ({ role: 'system', content, ...more })
export const text = (value: string, more: Body = {}): Block => ({ type: 'text', text: value, ...more })
export const use = (id: string, more: Body = {}): Block => ({ type: 'tool_use', id, name: 'read', input: {}, ...more })
export const result = (id: string, content: unknown = 'done'): Block => ({
  type: 'tool_result',
  tool_use_id: id,
  content,
})
export const tool = (name: string): Body => ({ name, input_schema: { type: 'object' } })
export const cached = (ttl: string): Body => ({ cache_control: { type: 'ephemeral', ttl } })
export const calls = says(user('go'), assistant([use('a')]), user([result('a')]))

export function png(side: number): Block {
  const bytes = Buffer.alloc(32)
  bytes.write('\u0089PNG\r\n\u001a\n', 'latin1')
  bytes.writeUInt32BE(side, 16)
  bytes.writeUInt32BE(10, 20)
  return image('image/png', bytes.toString('base64'))
}
export function image(type: string, data: string): Block {
  return { type: 'image', source: { type: 'base64', media_type: type, data } }
}
export const showing = (...blocks: Block[]): Body => says(user([...blocks, text('see')]))

export const thoughtful: ServedBlock[] = [
  { type: 'thinking', text: 'first' },
  { type: 'thinking', text: '', redacted: true },
  { type: 'tool-call', id: 'a', name: 'read', input: { path: 'x' } },
]
const opus = (more: Body = {}): Body => ofModel('claude-opus-5-5', { thinking: { type: 'adaptive' }, ...more })

/** The next request of a tool loop, whose answer `change` may alter. */
export function followUp(
  change: (content: readonly Block[]) => readonly Block[],
  more: Body = {},
): (ask: Ask) => Promise<Body> {
  return async (ask) => {
    const { content } = await ask(opus())
    return opus({
      messages: [user('hi'), assistant(change(content as readonly Block[])), user([result('a')])],
      ...more,
    })
  }
}
export const same = followUp((content) => content)
export const compaction = [{ type: 'raw', block: { type: 'compaction', content: 'what was said' } }] as const

/** A conversation that begins with the server's own compaction block. */
export function compacted(change: (block: Block) => readonly Block[], ...before: Body[]): (ask: Ask) => Promise<Body> {
  return async (ask) => {
    const { content } = await ask(withMore({}))
    const [block] = content as readonly [Block]
    return says(...before, assistant(change(block)), user('on'))
  }
}
