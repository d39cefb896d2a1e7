const GPT_WITHOUT_TOOLS = /(?:^|\/)gpt-(5\.4|5\.5|5\.6|6)(?![.\d])/
const REASONING_MODEL = /(?:^|\/)(?:o\d|gpt-(?:[5-9]|\d\d)(?!.*chat))/

/** Whether an OpenAI model id names a model that reasons, with or without a vendor prefix. */
export function isReasoningModel(id: string): boolean {
  return REASONING_MODEL.test(id.toLowerCase())
}

/** The version in the id of a model whose Chat Completions take function tools only without reasoning. PROVIDERS OC10. */
export function versionWithoutTools(id: string): string | undefined {
  return GPT_WITHOUT_TOOLS.exec(id.toLowerCase())?.[1]
}

/** A model whatever its date and vendor prefix: `gpt-5-2025-08-07` is `gpt-5`, and `gpt-5-mini` is another one. */
export function openAiFamily(id: string): string {
  const name = id.toLowerCase().slice(id.lastIndexOf('/') + 1)
  return name.replace(/-\d{4}-\d{2}-\d{2}$/, '')
}
