/** Rules DS1…DS9 of DeepSeek's chat completions. */
import { contentParts, missingAnswers, strayAnswers, type ChatMessage, type ChatView } from './chat-view.ts'
import { fieldsOf, isFields, loneSurrogate, stringOf } from './json.ts'
import { firstOf, type Rule } from './rule.ts'

const roles = ['system', 'user', 'assistant', 'tool', 'latest_reminder']

/** Column just behind the first `"value"` of a body in one line. */
function columnOf({ request }: ChatView, value: string): number {
  const quoted = JSON.stringify(value)
  return request.text.indexOf(quoted) + quoted.length + 1
}

function deserialisation(view: ChatView, fault: string, value: string): string {
  return `Failed to deserialize the JSON body into the target type: ${fault} at line 1 column ${columnOf(view, value)}`
}

function isThinkingOn({ body, model }: ChatView): boolean {
  const wish = fieldsOf(body['thinking'])['type']
  return wish === undefined ? /v4|reasoner/.test(model) : wish !== 'disabled'
}

/** Assistant messages between two user messages. */
function userTurns({ messages }: ChatView): readonly (readonly ChatMessage[])[] {
  const turns: ChatMessage[][] = [[]]
  for (const message of messages) {
    if (message.role === 'user') turns.push([])
    if (message.role === 'assistant') turns.at(-1)?.push(message)
  }
  return turns
}

function hasReasoning({ fields }: ChatMessage): boolean {
  return typeof fields['reasoning_content'] === 'string'
}

/** JSON.stringify escapes lone surrogates and nothing else of that range. */
function isTorn(fields: unknown): boolean {
  return /\\ud[89a-f]/.test(JSON.stringify(fields))
}

const passedBack = 'The `reasoning_content` in the thinking mode must be passed back to the API.'

export const deepseekRules: readonly Rule<ChatView>[] = [
  {
    id: 'DS7',
    level: 'refuse',
    check: ({ request, messages }) => {
      const lone = loneSurrogate(request.text, request.bytes)
      if (lone === undefined) return undefined
      const holder = messages.find(({ fields }) => isTorn(fields))
      const half = lone.half === 'high' ? 'leading' : 'trailing'
      return `Failed to parse the request body as JSON: messages[${holder?.index ?? 0}].content: lone ${half} surrogate in hex escape at line 1 column ${lone.offset + 1}`
    },
  },
  {
    id: 'json',
    level: 'refuse',
    check: ({ request }) =>
      request.isJsonObject ? undefined : 'Failed to parse the request body as JSON: expected value at line 1 column 1',
  },
  {
    id: 'model',
    level: 'refuse',
    check: ({ model, settings }) =>
      model === '' || settings.models?.includes(model) === false ? { message: 'Model Not Exist' } : undefined,
  },
  {
    id: 'messages',
    level: 'refuse',
    check: (view) => {
      if (!Array.isArray(view.body['messages'])) return deserialisation(view, 'missing field `messages`', view.model)
      return view.messages.length === 0 ? 'Empty input messages' : undefined
    },
  },
  {
    id: 'DS1',
    level: 'refuse',
    check: (view) =>
      firstOf(view.messages, ({ role, index }) =>
        roles.includes(role)
          ? undefined
          : deserialisation(
              view,
              `messages[${index}].role: unknown variant \`${role}\`, expected one of ${roles.map((one) => `\`${one}\``).join(', ')}`,
              role,
            ),
      ),
  },
  {
    id: 'DS6.content',
    level: 'refuse',
    check: (view) =>
      firstOf(view.messages, (message) => {
        const allowed = view.model.includes('vision') || view.model.includes('-vl') ? ['text', 'image_url'] : ['text']
        const other = contentParts(message).find(({ type }) => !allowed.includes(stringOf(type)))
        return other === undefined
          ? undefined
          : deserialisation(
              view,
              `messages[${message.index}].content: unknown variant \`${stringOf(other['type'])}\`, expected \`text\``,
              stringOf(other['type']),
            )
      }),
  },
  {
    id: 'DS6.tools',
    level: 'refuse',
    check: (view) =>
      firstOf(view.tools, (tool, index) =>
        isFields(tool['function'])
          ? undefined
          : deserialisation(view, `tools[${index}]: missing field \`function\``, stringOf(tool['type'])),
      ),
  },
  {
    id: 'DS4',
    level: 'refuse',
    check: (view) =>
      strayAnswers(view).length > 0
        ? "Messages with role 'tool' must be a response to a preceding message with 'tool_calls'"
        : undefined,
  },
  {
    id: 'DS3',
    level: 'refuse',
    check: ({ exchanges }) =>
      exchanges.some((exchange) => missingAnswers(exchange).length > 0)
        ? "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. (insufficient tool messages following tool_calls message)"
        : undefined,
  },
  {
    id: 'DS5',
    level: 'refuse',
    check: (view) => {
      const withTools = userTurns(view).filter((turn) => turn.some(({ calls }) => calls.length > 0))
      return isThinkingOn(view) && !withTools.flat().every(hasReasoning) ? passedBack : undefined
    },
  },
  {
    id: 'DS5.always',
    level: 'portable',
    check: (view) => (isThinkingOn(view) && !userTurns(view).flat().every(hasReasoning) ? passedBack : undefined),
  },
  {
    id: 'DS9.choice',
    level: 'portable',
    check: (view) => {
      const choice = view.body['tool_choice']
      return isThinkingOn(view) && (choice === 'required' || isFields(choice))
        ? 'deepseek does not support this tool_choice in thinking mode'
        : undefined
    },
  },
  {
    id: 'DS9.prefix',
    level: 'portable',
    check: ({ messages, request }) =>
      messages.some(
        ({ fields, index }) =>
          fields['prefix'] === true && (index < messages.length - 1 || !request.path.startsWith('/beta/')),
      )
        ? 'prefix is only allowed on the last assistant message and on the beta base URL'
        : undefined,
  },
  {
    id: 'DS8',
    level: 'refuse',
    check: ({ request, body, settings: { contextTokens = Infinity } }) => {
      const completion = Number(body['max_tokens'] ?? 0)
      const total = request.tokens + completion
      return total > contextTokens
        ? `This model's maximum context length is ${contextTokens} tokens. However, you requested ${total} tokens (${request.tokens} in the messages, ${completion} in the completion). Please reduce the length of the messages or completion.`
        : undefined
    },
  },
]
