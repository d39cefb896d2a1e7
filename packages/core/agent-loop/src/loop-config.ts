import type { Session } from '@palimpsest/session'
import type { AgentModel, ModelAdapter } from './adapter.ts'
import { AgentLoopError } from './errors.ts'
import type { HookListeners } from './hook-listeners.ts'
import type { LogView } from './log-view.ts'
import type { AgentLoopOptions, RequestSettings, RetryOptions } from './options.ts'
import { LONGEST_WAIT, sleep } from './retry.ts'
import { type CompiledTool, compileTools } from './tool-set.ts'

/** The options with every default filled in. */
export interface LoopConfig {
  readonly session: Session
  readonly model: AgentModel
  readonly adapter: ModelAdapter
  /** `undefined` keeps the prompt of the session, whatever it is. */
  readonly system: string | undefined
  readonly tools: ReadonlyMap<string, CompiledTool>
  readonly settings: RequestSettings
  readonly contextWindow: number | undefined
  readonly flush: () => Promise<void>
  readonly attachments: AgentLoopOptions['attachments']
  readonly maxSteps: number
  readonly maxParallelTools: number
  readonly retry: Required<RetryOptions>
  readonly abortGraceMs: number
  readonly createId: () => string
  readonly now: () => number
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>
}

/** What the parts of a turn share. */
export interface LoopParts extends LoopConfig {
  readonly hooks: HookListeners
  readonly log: LogView
}

/** Throws `AgentLoopError` `options/invalid` or `tools/invalid`. */
export function resolveOptions(options: AgentLoopOptions): LoopConfig {
  const { session, model, adapter, retry = {} } = options
  for (const [name, value] of Object.entries({ session, model, adapter })) {
    if (value === undefined) throw new AgentLoopError('options/invalid', `the option ${name} is missing`)
  }
  const { specificationVersion: version }: { readonly specificationVersion?: string } = model
  if (version !== 'v4' && version !== 'v3') {
    const why = `the option model is no LanguageModelV4 or V3 (its specificationVersion is ${version})`
    throw new AgentLoopError('options/invalid', `${why}: take one of a provider package of today`)
  }
  return {
    session,
    model,
    adapter,
    system: options.system,
    tools: compileTools(options.tools ?? []),
    settings: options.settings ?? {},
    contextWindow: options.contextWindow,
    flush: options.flush ?? ((): Promise<void> => Promise.resolve()),
    attachments: options.attachments,
    maxSteps: atLeast('maxSteps', options.maxSteps ?? 100, 1),
    maxParallelTools: atLeast('maxParallelTools', options.maxParallelTools ?? 4, 1),
    retry: {
      maxAttempts: atLeast('retry.maxAttempts', retry.maxAttempts ?? 4, 1),
      initialDelayMs: wait('retry.initialDelayMs', retry.initialDelayMs ?? 1000),
      maxDelayMs: wait('retry.maxDelayMs', retry.maxDelayMs ?? 60_000),
    },
    abortGraceMs: wait('abortGraceMs', options.abortGraceMs ?? 1000),
    createId: options.createId ?? ((): string => globalThis.crypto.randomUUID()),
    now: options.now ?? Date.now,
    sleep: options.sleep ?? sleep,
  }
}

function wait(name: string, ms: number): number {
  if (ms <= LONGEST_WAIT) return atLeast(name, ms, 0)
  throw new AgentLoopError('options/invalid', `${name} is ${ms}: give at most ${LONGEST_WAIT}`)
}

function atLeast(name: string, value: number, least: number): number {
  if (Number.isSafeInteger(value) && value >= least) return value
  throw new AgentLoopError('options/invalid', `${name} is ${value}: give a whole number from ${least}`)
}
