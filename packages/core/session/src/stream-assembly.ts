import type { ToolCallId } from './ids.ts'
import type { AssistantBlock } from './messages.ts'
import type { AssistantStreamRecord, StreamChunk } from './stream.ts'
import { expandStream } from './stream-codec.ts'

interface OpenBlock {
  type: 'text' | 'reasoning' | 'tool-call' | undefined
  text: string
  id: ToolCallId | undefined
  name: string | undefined
  /** The block as the provider closed it, which settles its content. */
  closed: AssistantBlock | undefined
}

/**
 * The content that a stream built, blocks in the order in which they first appeared. A block that was not closed is
 * assembled from its deltas; of an interrupted stream its text is kept and its half-written call is not, since only
 * the visible prefix counts. Throws `SessionError` `stream/invalid`. SPEC 2.5.
 */
export function assembleStream(
  records: readonly AssistantStreamRecord[],
  options: { readonly interrupted?: boolean } = {},
): AssistantBlock[] {
  const blocks = new Map<number, OpenBlock>()
  for (const { chunk } of expandStream(records)) collect(blocks, chunk)
  return [...blocks.values()].flatMap((block) => settle(block, options.interrupted === true) ?? [])
}

function collect(blocks: Map<number, OpenBlock>, chunk: StreamChunk): void {
  if (!('index' in chunk)) return
  const block = blocks.get(chunk.index) ?? {
    type: undefined,
    text: '',
    id: undefined,
    name: undefined,
    closed: undefined,
  }
  blocks.set(chunk.index, block)
  switch (chunk.type) {
    case 'text-delta':
    case 'reasoning-delta':
      block.type = chunk.type === 'text-delta' ? 'text' : 'reasoning'
      block.text += chunk.text
      break
    case 'tool-call-delta':
      block.type = 'tool-call'
      block.id = chunk.id
      block.name = chunk.name ?? block.name
      block.text += chunk.argumentsDelta
      break
    case 'block-end':
      block.closed = chunk.block
      break
    default:
  }
}

function settle(block: OpenBlock, interrupted: boolean): AssistantBlock | undefined {
  const { type, text, id, name, closed } = block
  if (closed !== undefined) return closed
  if (type === 'text' || type === 'reasoning') return text === '' ? undefined : { type, text }
  if (type === undefined || id === undefined || interrupted) return undefined
  return { type: 'tool-call', id, name: name ?? '', arguments: text }
}
