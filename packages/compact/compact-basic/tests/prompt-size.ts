import type { LanguageModelV4CallOptions } from '@ai-sdk/provider'

/** What a request weighs, counted on what was sent and apart from the meter, by the rule of its documentation. */
export interface PromptSize {
  readonly tokens: number
  readonly bytes: number
}

/** Tokens beside the content of a message, a call and a result. */
const FRAME = 4

export function sizeOfPrompt({ prompt, tools = [] }: LanguageModelV4CallOptions): PromptSize {
  const tokens = prompt.reduce((sum, message) => sum + FRAME + tokensOfContent(message.content), 0)
  return {
    tokens: tokens + (tools.length === 0 ? 0 : tokensOfText(JSON.stringify(tools))),
    bytes: Buffer.byteLength(JSON.stringify([prompt, tools])),
  }
}

function tokensOfContent(content: LanguageModelV4CallOptions['prompt'][number]['content']): number {
  if (typeof content === 'string') return tokensOfText(content)
  let tokens = 0
  for (const part of content) {
    if (part.type === 'text') tokens += tokensOfText(part.text)
    else if (part.type === 'tool-call') {
      const { toolCallId, toolName, input } = part
      tokens += FRAME + tokensOfText(toolCallId) + tokensOfText(toolName) + tokensOfText(JSON.stringify(input))
    } else if (part.type === 'tool-result' && part.output.type === 'text') {
      tokens += FRAME + tokensOfText(part.toolCallId) + tokensOfText(part.output.value)
    } else throw new Error(`no part of this run is a ${part.type}`)
  }
  return tokens
}

/** Four ASCII letters or spaces, two digits, signs or letters of another alphabet, or one of anything else. */
function tokensOfText(text: string): number {
  let quarters = 0
  for (let at = 0; at < text.length; at += 1) {
    const unit = text.charCodeAt(at)
    const lower = unit | 0x20
    if ((lower >= 0x61 && lower <= 0x7a) || unit === 0x20 || (unit >= 0x09 && unit <= 0x0d)) quarters += 1
    else quarters += unit < 0x800 ? 2 : 4
  }
  return Math.ceil(quarters / 4)
}
