export { bundleChild, Child, type ChildExit, type ChildProgram } from './child-process.ts'
export { seededRandom } from './fs-crash-state.ts'
export { faultFileSystem, type ActiveFault, type Fault, type FaultFileSystem } from './fs-fault.ts'
export { layerFileSystem, spyFileSystem, type FileSystemCall, type FileSystemHook } from './fs-layer.ts'
export { PowerLossRecorder, type CrashState, type PowerLossOptions, type SyncCall } from './fs-power-loss.ts'
export {
  anyAssistantProse,
  anyCallId,
  anyImage,
  anyJson,
  anyResultContent,
  anySurfacePayload,
  anySystemContent,
  anyText,
  anyToolCall,
  anyUserContent,
} from './arbitraries.ts'
export { assistantData, resultData, systemData, text, toolCall, userData, type Place } from './payloads.ts'
export { codingSession, type CodingSessionOptions, type CodingStep } from './coding-session.ts'
export { anyCommands, type Command, type Step } from './commands.ts'
export { runPageProgram, type PageRun } from './page-program.ts'
export { candidateFor } from './candidates.ts'
export { faultNames, plantFault } from './faults.ts'
export {
  answerOf,
  callsOf,
  ReferenceSession,
  transcriptProblems,
  type Candidate,
  type ReferenceEvent,
} from './reference-session.ts'
export { describeClosers, referenceClosers, type ExpectedCloser } from './reference-closers.ts'
export { claudeCodeSamples, isSampleAbsent, samplePath, samplesOf } from './samples.ts'
export type { SampledAgent } from './samples.ts'
export { referenceVerdict } from './reference-rules.ts'
export {
  ScriptedModel,
  type Script,
  type ScriptedAnswer,
  type ScriptedModelOptions,
  type ScriptedPart,
} from './scripted-model.ts'
export {
  startProviderServer,
  type ProviderKind,
  type ProviderServer,
  type ProviderServerOptions,
  type Refusal,
  type ServerScript,
} from './provider-servers/server.ts'
export type { DroppedBlock, ReceivedRequest, RequestOutcome } from './provider-servers/protocol.ts'
export type {
  ServedAnswer,
  ServedBlock,
  ServedBreak,
  ServedError,
  ServedFailure,
  ServedRaw,
  ServedReply,
  ServedText,
  ServedThinking,
  ServedToolCall,
  ServedUsage,
} from './provider-servers/script.ts'
export { countTokens } from './provider-servers/tokens.ts'
export { providerRules } from './provider-servers/provider-rules.ts'
