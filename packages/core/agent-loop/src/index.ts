export type { AgentModel, ExportedPrompt, FailureKind, ModelAdapter, PromptRequest } from './adapter.ts'
export { AgentLoopError } from './errors.ts'
export type { AgentLoopErrorCode } from './errors.ts'
export type {
  AgentHook,
  AgentHooks,
  CallContext,
  CallDecision,
  PreStepContext,
  RequestContext,
  RequestErrorContext,
  TurnFailure,
} from './hooks.ts'
export type { AgentLoopOptions, RequestSettings, RetryOptions, TurnResult } from './options.ts'
export type { AgentInput } from './input.ts'
export { AgentLoop } from './loop.ts'
export { defineTool } from './tools.ts'
export type { AgentTool, RequestedCall, ToolContext, ToolOutcome, ToolOutput } from './tools.ts'
