/** What a Claude model id says: `claude-opus-4-8-20260101` is `{ line: 'opus', major: 4, minor: 8 }`. */
export interface ClaudeModel {
  readonly line: string
  readonly major: number
  readonly minor: number
}

const LINE_FIRST = /claude-([a-z]+)-(\d{1,2})(?:[-.](\d{1,2}))?(?!\d)/
const VERSION_FIRST = /claude-(\d{1,2})(?:[-.](\d{1,2}))?(?!\d)(?:-([a-z]+))?/

/** Reads a model id, with or without a vendor prefix and a date; `undefined` when it names no Claude model. */
export function claudeModel(id: string): ClaudeModel | undefined {
  const text = id.toLowerCase()
  const lineFirst = LINE_FIRST.exec(text)
  if (lineFirst !== null) {
    return { line: lineFirst[1] ?? '', major: Number(lineFirst[2]), minor: Number(lineFirst[3] ?? 0) }
  }
  const versionFirst = VERSION_FIRST.exec(text)
  if (versionFirst === null) return undefined
  return { line: versionFirst[3] ?? '', major: Number(versionFirst[1]), minor: Number(versionFirst[2] ?? 0) }
}

/** Whether the model is of that version or a later one, whatever its line. */
export function isAtLeast(model: ClaudeModel, major: number, minor: number): boolean {
  return model.major > major || (model.major === major && model.minor >= minor)
}

/** Models that share a family read each other's signatures: line and version, whatever the date. */
export function claudeFamily(id: string): string {
  const model = claudeModel(id)
  return model === undefined ? id.toLowerCase() : `${model.line}-${model.major}.${model.minor}`
}

/** Whether a request to the model may say `thinking: { type: 'disabled' }`. PROVIDERS A27. */
export function canDisableThinking(model: ClaudeModel | undefined): boolean {
  return model?.line !== 'fable' && model?.line !== 'mythos'
}

/**
 * Whether an exporter may rely on it: the catalog of the published package says of Opus and Sonnet 5.5 too that they
 * always think, and takes the setting away.
 */
export function isSureToDisableThinking(model: ClaudeModel | undefined): boolean {
  if (model === undefined || !isAtLeast(model, 5, 5)) return canDisableThinking(model)
  return canDisableThinking(model) && model.line !== 'opus' && model.line !== 'sonnet'
}
