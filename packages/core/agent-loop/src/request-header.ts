import { type Json, type RequestHeader, jsonEqual, toJson } from '@palimpsest/session'
import { messageOf } from './failure.ts'
import { headOf } from './head.ts'
import type { RequestContext } from './hooks.ts'
import type { LoopParts } from './loop-config.ts'
import { buildHeader } from './request.ts'
import { failTurn } from './turn-stop.ts'

/**
 * Lets `agent/request` see the header, then records it and the context where they differ from what is in force. Returns
 * the header as the log holds it. Throws `TurnStop`.
 */
export async function settleHeader(
  parts: LoopParts,
  place: Pick<RequestContext, 'turn' | 'step' | 'attempt' | 'signal'>,
): Promise<RequestHeader> {
  const { session, model, hooks, log, contextWindow } = parts
  // A copy: a listener that writes into it changes this request and nothing of the loop's.
  const own = structuredClone(
    buildHeader({
      model,
      settings: parts.settings,
      instructions: headOf(session) === undefined ? (parts.system ?? instructionsOf(log.header?.data.header)) : '',
      tools: [...parts.tools.values()].map(({ definition }) => definition),
    }),
  )
  const context = { ...place, session, header: own, messages: session.deriveMessages() }
  const header = (await hooks.first('agent/request', context)) ?? own
  requireModel(parts, header)
  const requestContext = {
    provider: model.provider,
    model: model.modelId,
    ...(contextWindow === undefined ? {} : { contextWindow }),
  }
  if (!jsonEqual(log.context?.data, requestContext)) session.append('request/context', requestContext)
  return recordHeader(parts, header)
}

function recordHeader({ session, log }: LoopParts, header: RequestHeader): RequestHeader {
  const last = log.header
  try {
    const json = toJson(header) as unknown as RequestHeader & Json
    if (last !== undefined && jsonEqual(last.data.header as unknown as Json, json)) return last.data.header
    const isResume = last !== undefined && last.seq < session.firstLiveSeq
    const reason = last === undefined ? 'initial' : isResume ? 'resume' : 'change'
    return session.append('request/header', { header: json, reason }).data.header
  } catch (error) {
    throw failTurn('hook/failed', `the header of agent/request was refused: ${messageOf(error)}`, error)
  }
}

/** The prompt that a session without a head had so far. */
function instructionsOf(header: RequestHeader | undefined): string {
  const instructions = header?.config['instructions']
  return typeof instructions === 'string' ? instructions : ''
}

function requireModel({ model }: LoopParts, { config }: RequestHeader): void {
  if (config?.provider === model.provider && config.model === model.modelId) return
  const wanted = `${config?.provider}/${config?.model}`
  const why = `a listener of agent/request asked for ${wanted}, but the loop's model is ${model.provider}/${model.modelId}`
  throw failTurn('hook/failed', why)
}
