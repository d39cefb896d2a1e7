import type { Turn } from '../shared/conversation.ts'
import { isSureToDisableThinking, claudeModel } from './models.ts'
import type { AnthropicThinking } from './wire.ts'

type AssistantTurn = Extract<Turn, { role: 'assistant' }>

/**
 * What becomes of thinking in a request that ends in an open tool turn: manual thinking wants that turn to start with
 * signed reasoning; adaptive thinking goes on unless all reasoning of that turn was dropped. `undefined`: as asked.
 */
export function judgeThinking(
  turns: readonly Turn[],
  { thinking, model }: { readonly thinking?: AnthropicThinking; readonly model?: string },
): 'thinking/off' | 'thinking/kept' | undefined {
  if (thinking === undefined || thinking.type === 'disabled') return undefined
  const steps = openToolTurn(turns)
  if (steps.length === 0) return undefined
  const hasReasoning = steps.some((step) => step.parts.some((part) => part.type === 'reasoning'))
  const isFine =
    thinking.type === 'enabled'
      ? steps[0]?.parts[0]?.type === 'reasoning'
      : hasReasoning || !steps.some((step) => step.isReasoningDropped)
  if (isFine) return undefined
  return isSureToDisableThinking(claudeModel(model ?? '')) ? 'thinking/off' : 'thinking/kept'
}

/** The assistant entries since the last run of users without a result; none when the list does not end on results. */
function openToolTurn(turns: readonly Turn[]): AssistantTurn[] {
  const steps: AssistantTurn[] = []
  let hasResult = false
  let isAfterAssistant = false
  for (const turn of turns.toReversed()) {
    if (turn.role === 'assistant') {
      if (!hasResult) break
      steps.unshift(turn)
      isAfterAssistant = true
    } else {
      if (isAfterAssistant) hasResult = false
      isAfterAssistant = false
      hasResult ||= turn.role === 'result'
    }
  }
  return steps
}
