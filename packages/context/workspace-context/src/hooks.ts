import type { Session, UserMessage } from '@palimpsest/session'

/** What is used of the loop's `agent/pre-step`. */
export interface PreStep {
  readonly session: Session
  inject(message: UserMessage): void
}

/** What is used of the loop's `tools/result`. */
export interface SettledCall {
  readonly call: {
    /** The raw JSON text. */
    readonly arguments: string
    readonly input: unknown
  }
}

/** A loop that this plugin can be attached to; the reference loop is one. */
export interface ContextHost {
  on(hook: 'agent/pre-step', listener: (context: PreStep) => Promise<void>): () => void
  on(hook: 'tools/result', listener: (context: SettledCall) => void): () => void
}

const pathMembers = ['path', 'file_path', 'filePath']

/** The paths that a call names in its arguments, as they were written. */
export function pathsOfCall({ call }: SettledCall): readonly string[] {
  const input = isObject(call.input) ? call.input : parsed(call.arguments)
  if (!isObject(input)) return []
  return pathMembers.flatMap((member) => {
    const value = input[member]
    return typeof value === 'string' && value !== '' ? [value] : []
  })
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return undefined
  }
}
