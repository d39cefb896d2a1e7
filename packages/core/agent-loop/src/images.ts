import type { LanguageModelV3File, LanguageModelV4File } from '@ai-sdk/provider'
import type { AssistantBlock } from '@palimpsest/session'
import type { AgentLoopOptions } from './options.ts'

/** Hands an image that the model made to the attachments; what is no image, or not here as bytes, is left out. */
export async function keepImage(
  part: LanguageModelV4File | LanguageModelV3File,
  attachments: AgentLoopOptions['attachments'],
): Promise<AssistantBlock | undefined> {
  const bytes = bytesOf(part.data)
  if (attachments === undefined || bytes === undefined || !part.mediaType.startsWith('image/')) return undefined
  const attachment = await attachments.put(bytes, { mediaType: part.mediaType })
  return { type: 'image', attachment }
}

function bytesOf(data: LanguageModelV4File['data'] | LanguageModelV3File['data']): Uint8Array | undefined {
  if (data instanceof Uint8Array) return data
  if (typeof data === 'string') return Uint8Array.from(atob(data), (character) => character.charCodeAt(0))
  return data.type === 'data' ? bytesOf(data.data) : undefined
}
