import type {
  LanguageModelV3FilePart,
  LanguageModelV3Message,
  LanguageModelV3Prompt,
  LanguageModelV3ToolResultOutput,
  LanguageModelV4FilePart,
  LanguageModelV4Message,
  LanguageModelV4Prompt,
  LanguageModelV4ToolResultOutput,
  LanguageModelV4ToolResultPart,
} from '@ai-sdk/provider'

type FileData = LanguageModelV4FilePart['data']
type AssistantPart = Extract<LanguageModelV3Message, { role: 'assistant' }>['content'][number]
type ResultPart = Extract<AssistantPart, { type: 'tool-result' }>
type ResultItem = Extract<LanguageModelV3ToolResultOutput, { type: 'content' }>['value'][number]

/**
 * A prompt for models of the older interface, which has no custom parts and writes files another way. Throws `TypeError`
 * for a file by provider reference.
 */
export function toV3Prompt(prompt: LanguageModelV4Prompt): LanguageModelV3Prompt {
  return prompt.map(message).filter(({ content }) => content.length > 0)
}

function message(from: LanguageModelV4Message): LanguageModelV3Message {
  switch (from.role) {
    case 'system':
      return from
    case 'user':
      return { ...from, content: from.content.map((part) => (part.type === 'file' ? filePart(part) : part)) }
    case 'tool':
      return { ...from, content: from.content.map((part) => (part.type === 'tool-result' ? resultPart(part) : part)) }
    default:
      return {
        ...from,
        content: from.content.flatMap((part): AssistantPart[] => {
          if (part.type === 'custom' || part.type === 'reasoning-file') return []
          if (part.type === 'file') return [filePart(part)]
          return [part.type === 'tool-result' ? resultPart(part) : part]
        }),
      }
  }
}

function filePart(part: LanguageModelV4FilePart): LanguageModelV3FilePart {
  return { ...part, mediaType: fullType(part.mediaType), data: fileData(part.data) }
}

/** The older interface has no type without a subtype. */
function fullType(mediaType: string): string {
  return mediaType.includes('/') ? mediaType : `${mediaType}/*`
}

function fileData(data: FileData): LanguageModelV3FilePart['data'] {
  if (data.type === 'data') return data.data
  if (data.type === 'url') return data.url
  if (data.type === 'text') return new TextEncoder().encode(data.text)
  throw new TypeError('a file by provider reference cannot go to a model of the v3 interface: give its bytes')
}

function resultPart(part: LanguageModelV4ToolResultPart): ResultPart {
  return { ...part, output: output(part.output) }
}

function output(from: LanguageModelV4ToolResultOutput): LanguageModelV3ToolResultOutput {
  if (from.type !== 'content') return from
  return {
    ...from,
    value: from.value.map((item): ResultItem => {
      if (item.type !== 'file') return item
      const { data, filename, providerOptions } = item
      const mediaType = fullType(item.mediaType)
      const isImage = mediaType.startsWith('image/')
      const rest = providerOptions && { providerOptions }
      if (data.type === 'url') return { type: isImage ? 'image-url' : 'file-url', url: String(data.url), ...rest }
      if (isImage) return { type: 'image-data', mediaType, data: base64(data), ...rest }
      return { type: 'file-data', mediaType, data: base64(data), ...(filename && { filename }), ...rest }
    }),
  }
}

function base64(data: FileData): string {
  const raw = fileData(data)
  if (typeof raw === 'string') return raw
  if (!(raw instanceof Uint8Array)) throw new TypeError('a file without bytes cannot be written as base64')
  return btoa(Array.from(raw, (byte) => String.fromCodePoint(byte)).join(''))
}
