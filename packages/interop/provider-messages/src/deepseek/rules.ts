import { bodyShape, rolesRule } from '../openai-chat/rules-shape.ts'
import { callsAnswered, resultsAsked, soundCalls, toolNames } from '../openai-chat/rules-tools.ts'
import type { MessageView } from '../openai-chat/view.ts'
import { sentPart } from '../shared/body.ts'
import { describe, elements, isRecord, member } from '../shared/json-reader.ts'
import { loneSurrogates } from '../shared/lone-surrogates.ts'
import { renamed } from '../shared/rule.ts'
import type { Rule, Violation } from '../shared/rule.ts'
import { runs } from '../shared/runs.ts'
import type { DeepSeekCheckConfig, DeepSeekView } from './view.ts'

type DeepSeekRule = Rule<DeepSeekView, DeepSeekCheckConfig>

const shape: DeepSeekRule = {
  id: 'DS0',
  level: 'refuse',
  profile: 'transcript',
  about: 'The body has the shape of a chat request; a request names its model and has at least one message.',
  check(view, config) {
    const found = bodyShape('DS0', view, config)
    if (config.profile !== 'request' || !isRecord(view.request)) return found
    const messages = member(view.request, 'messages')
    if (typeof member(view.request, 'model') !== 'string')
      found.push({ rule: 'DS0', path: 'model', message: 'missing field `model`' })
    if (Array.isArray(messages) && messages.length === 0)
      found.push({ rule: 'DS0', path: 'messages', message: 'empty input messages' })
    return found
  },
}

/** Whether a message carries its reasoning, an empty one included. */
function hasReasoning({ value }: MessageView): boolean {
  return typeof member(value, 'reasoning_content') === 'string'
}

/** The assistants of each turn of the user, from one user message to the next. */
function turns(view: DeepSeekView): MessageView[][] {
  const isStep = ({ role }: MessageView): boolean => role === 'assistant' || role === 'tool'
  return runs(view.messages, (first, next) => isStep(first) && isStep(next)).map((run) =>
    run.filter((message) => message.role === 'assistant'),
  )
}

function missingReasoning(rule: string, messages: readonly MessageView[]): Violation[] {
  return messages
    .filter((message) => !hasReasoning(message))
    .map(({ path }) => ({
      rule,
      path: `${path}.reasoning_content`,
      message: 'the reasoning_content in the thinking mode must be passed back',
    }))
}

const reasoningOfToolTurns: DeepSeekRule = {
  id: 'DS5',
  level: 'refuse',
  profile: 'transcript',
  about: 'With thinking on, every assistant of a turn that used tools carries reasoning_content; an empty one passes.',
  check(view) {
    if (!view.isThinking) return []
    const used = turns(view).filter((turn) => turn.some((message) => message.calls.length > 0))
    return used.flatMap((turn) => missingReasoning('DS5', turn))
  },
}

const reasoningEverywhere: DeepSeekRule = {
  id: 'DS10',
  level: 'portable',
  profile: 'transcript',
  about: 'With thinking on, every other assistant carries reasoning_content too.',
  check(view) {
    if (!view.isThinking) return []
    const plain = turns(view).filter((turn) => turn.every((message) => message.calls.length === 0))
    return plain.flatMap((turn) => missingReasoning('DS10', turn))
  },
}

const content: DeepSeekRule = {
  id: 'DS6',
  level: 'refuse',
  profile: 'transcript',
  about:
    'Content is a string or text parts, with images for vision models only, and may be null beside calls; tools are functions.',
  check(view) {
    const found: Violation[] = []
    const at = (path: string, message: string): number => found.push({ rule: 'DS6', path, message })
    for (const { path, value, parts, calls } of view.messages) {
      const given = member(value, 'content') ?? null
      const isMissing = given === null && calls.length > 0
      if (typeof given !== 'string' && !Array.isArray(given) && !isMissing)
        at(`${path}.content`, `expected a string, got ${describe(given)}`)
      for (const part of parts) {
        if (part.type === 'text' || (part.type === 'image_url' && view.takesImages)) continue
        at(part.path, `unknown variant ${describe(part.type)}, expected \`text\``)
      }
    }
    for (const [index, tool] of elements(member(view.request, 'tools')).entries()) {
      const isFunction = member(tool, 'type') === 'function' && isRecord(member(tool, 'function'))
      if (!isFunction) at(`tools.${index}`, 'missing field `function`')
    }
    return found
  },
}

const wellFormed: DeepSeekRule = {
  id: 'DS7',
  level: 'refuse',
  profile: 'transcript',
  about: 'No string and no key has a lone surrogate.',
  check: (view, config) => loneSurrogates('DS7', sentPart(view.request, config.profile), ''),
}

const prefixLast: DeepSeekRule = {
  id: 'DS9',
  level: 'refuse',
  profile: 'request',
  about: 'Only the last message has a prefix, and only as an assistant.',
  check: ({ messages }) =>
    messages
      .filter(({ value, role }, index) => {
        return member(value, 'prefix') === true && (role !== 'assistant' || index < messages.length - 1)
      })
      .map(({ path }) => ({ rule: 'DS9', path: `${path}.prefix`, message: 'only the last assistant has a prefix' })),
}

const freeChoice: DeepSeekRule = {
  id: 'DS11',
  level: 'portable',
  profile: 'request',
  about: 'With thinking on, tool_choice forces no call.',
  check({ request, isThinking }) {
    const choice = member(request, 'tool_choice') ?? 'auto'
    if (!isThinking || choice === 'auto' || choice === 'none') return []
    return [{ rule: 'DS11', path: 'tool_choice', message: 'thinking does not take a forced tool_choice' }]
  },
}

/** Every rule of DeepSeek that can be judged from a request. From `DS10` on they are ours beside the numbered table. */
export const rules: readonly DeepSeekRule[] = [
  shape,
  rolesRule('DS1', ['system', 'user', 'assistant', 'tool', 'latest_reminder']),
  renamed(callsAnswered, { id: 'DS3' }),
  renamed(resultsAsked, { id: 'DS4' }),
  reasoningOfToolTurns,
  content,
  wellFormed,
  prefixLast,
  reasoningEverywhere,
  freeChoice,
  renamed(toolNames, { id: 'DS12' }),
  renamed(soundCalls, { id: 'DS13' }),
]
