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

/** A prompt for models of the older interface, which has no custom parts and writes files another way. */
export function toV3Prompt(prompt: LanguageModelV4Prompt): LanguageModelV3Prompt {
  return prompt.map(message)
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
  return { ...part, data: fileData(part.data) }
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
      const { mediaType, data } = item
      if (data.type === 'url') return { type: 'file-url', url: String(data.url) }
      return { type: mediaType.startsWith('image/') ? 'image-data' : 'file-data', mediaType, data: base64(data) }
    }),
  }
}

function base64(data: FileData): string {
  const raw = fileData(data)
  if (typeof raw === 'string') return raw
  if (!(raw instanceof Uint8Array)) throw new TypeError('a file without bytes cannot be written as base64')
  return btoa(Array.from(raw, (byte) => String.fromCodePoint(byte)).join(''))
}
