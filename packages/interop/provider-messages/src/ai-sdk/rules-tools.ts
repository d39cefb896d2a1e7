import { describe, isRecord, member } from '../shared/json-reader.ts'
import type { Rule, Violation } from '../shared/rule.ts'
import { isProviderExecuted, partsOf, textOf } from './view.ts'
import type { AiSdkView, MessageView, PartView } from './view.ts'

type AiSdkRule = Rule<AiSdkView>

const inputs: AiSdkRule = {
  id: 'AI5',
  level: 'refuse',
  profile: 'transcript',
  about: 'The input of a tool call is an object: a string or a list is refused by one provider or another.',
  check: ({ messages }) =>
    calls(messages)
      .filter(({ value }) => Object.hasOwn(value, 'input') && value['input'] !== undefined && !isRecord(value['input']))
      .map(({ path, value }) => {
        return { rule: 'AI5', path: `${path}.input`, message: `the input is ${describe(member(value, 'input'))}` }
      }),
}

const callsAnswered: AiSdkRule = {
  id: 'AI6',
  level: 'refuse',
  profile: 'transcript',
  about:
    'Every call that the client runs and nobody is asked to approve is answered by the tool messages right after its assistant.',
  check: ({ messages }) =>
    exchanges(messages).flatMap(({ asked, approvals, answers }) => {
      const settled = new Set([...approvals, ...answers].map((part) => textOf(part, 'toolCallId')))
      return asked
        .filter((part) => !isProviderExecuted(part) && !settled.has(textOf(part, 'toolCallId')))
        .map((part) => {
          return { rule: 'AI6', path: part.path, message: `no result for call ${describe(textOf(part, 'toolCallId'))}` }
        })
    }),
}

const resultsAsked: AiSdkRule = {
  id: 'AI7',
  level: 'refuse',
  profile: 'transcript',
  about: 'A result of a tool message answers a call of the assistant message before, under the same tool name.',
  check: ({ messages }) =>
    exchanges(messages).flatMap(({ asked, answers }) => {
      const names = new Map(asked.map((part) => [textOf(part, 'toolCallId'), textOf(part, 'toolName')]))
      return answers
        .filter((part) => names.get(textOf(part, 'toolCallId')) !== textOf(part, 'toolName'))
        .map((part) => {
          const message = `no such call before: ${describe(textOf(part, 'toolCallId'))} of ${describe(textOf(part, 'toolName'))}`
          return { rule: 'AI7', path: part.path, message }
        })
    }),
}

const oneResult: AiSdkRule = {
  id: 'AI8',
  level: 'refuse',
  profile: 'transcript',
  about: 'A call has a single result.',
  check: ({ messages }) => exchanges(messages).flatMap(({ answers }) => repeated('AI8', answers, 'answered twice')),
}

const uniqueCalls: AiSdkRule = {
  id: 'AI9',
  level: 'portable',
  profile: 'transcript',
  about: 'Call ids are unique in the list, and neither they nor tool names are empty.',
  check: ({ messages }) => {
    const all = calls(messages)
    const empty = all.flatMap((part) =>
      ['toolCallId', 'toolName']
        .filter((name) => member(part.value, name) === '')
        .map((name) => ({ rule: 'AI9', path: `${part.path}.${name}`, message: 'it is empty' })),
    )
    return [...empty, ...repeated('AI9', all, 'called twice')]
  },
}

/** An assistant message's calls and the results of the run of tool messages that follows it. */
interface Exchange {
  readonly asked: readonly PartView[]
  readonly approvals: readonly PartView[]
  readonly answers: PartView[]
}

function exchanges(messages: readonly MessageView[]): Exchange[] {
  const found: Exchange[] = []
  let open: Exchange | undefined
  for (const message of messages) {
    if (message.role !== 'assistant' && message.role !== 'tool') {
      open = undefined
      continue
    }
    if (message.role === 'assistant' || open === undefined) {
      const isAssistant = message.role === 'assistant'
      const asked = isAssistant ? partsOf(message, 'tool-call') : []
      open = { asked, approvals: isAssistant ? partsOf(message, 'tool-approval-request') : [], answers: [] }
      found.push(open)
    }
    if (message.role !== 'tool') continue
    for (const answer of partsOf(message, 'tool-result')) open.answers.push(answer)
  }
  return found
}

function calls(messages: readonly MessageView[]): PartView[] {
  return messages.filter(({ role }) => role === 'assistant').flatMap((message) => partsOf(message, 'tool-call'))
}

function repeated(rule: string, parts: readonly PartView[], what: string): Violation[] {
  const seen = new Set<string>()
  return parts.flatMap((part) => {
    const id = textOf(part, 'toolCallId')
    if (!seen.has(id)) {
      seen.add(id)
      return []
    }
    return [{ rule, path: part.path, message: `${describe(id)} is ${what}` }]
  })
}

/** Rules on calls and results. */
export const toolRules: readonly AiSdkRule[] = [inputs, callsAnswered, resultsAsked, oneResult, uniqueCalls]
