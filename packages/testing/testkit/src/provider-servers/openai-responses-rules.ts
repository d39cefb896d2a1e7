/** Rules OR1…OR15 of the Responses API. */
import { fieldsOf, listOf, stringOf } from './json.ts'
import { nameFault } from './openai-names.ts'
import { wantsStream } from './protocol.ts'
import { callIds, conversation, type InputItem, type ResponsesView } from './responses-view.ts'
import { firstOf, repeated, type Fault, type Rule } from './rule.ts'

const messageKeys = new Set(['type', 'role', 'content', 'status', 'id'])
const partsOfRole: Readonly<Record<string, readonly string[]>> = {
  assistant: ['output_text', 'refusal'],
}
const inputParts = ['input_text', 'input_image', 'input_file', 'input_audio']
const idPrefixes: Readonly<Record<string, string>> = { function_call: 'fc', reasoning: 'rs', message: 'msg' }

function messages({ items }: ResponsesView): readonly InputItem[] {
  return items.filter(({ type }) => type === 'message')
}

function invalidValue(value: unknown, supported: string, param: string): Fault {
  const shown = typeof value === 'string' ? value : JSON.stringify(value)
  return { message: `Invalid value: '${shown}'. Supported values are: ${supported}.`, param, code: 'invalid_value' }
}

function callIdFault({ fields, index }: InputItem): Fault | undefined {
  const { length } = stringOf(fields['call_id'])
  const param = `input[${index}].call_id`
  if (length === 0) {
    return {
      message: `Invalid '${param}': empty string. Expected a string with minimum length 1, but got an empty string instead.`,
      param,
      code: 'empty_string',
    }
  }
  return length <= 64
    ? undefined
    : {
        message: `Invalid '${param}': string too long. Expected a string with maximum length 64, but got a string with length ${length} instead.`,
        param,
        code: 'string_above_max_length',
      }
}

function isKnownItem(view: ResponsesView, id: string): boolean {
  return conversation(view).some((item) => item['id'] === id) || view.items.some((item) => item.id === id)
}

/** Calls with their outputs right behind the run of calls. */
function separatedCall({ items }: ResponsesView): string | undefined {
  const open = new Set<string>()
  for (const { resolved } of items) {
    const id = stringOf(resolved['call_id'])
    if (resolved['type'] === 'function_call') open.add(id)
    else if (resolved['type'] === 'function_call_output') open.delete(id)
    else if (resolved['type'] !== 'reasoning') {
      const [first] = open
      if (first !== undefined) return first
    }
  }
  return undefined
}

function noOutput(id: string): Fault {
  return { message: `No tool output found for function call ${id}.`, param: 'input' }
}

export const openaiResponsesRules: readonly Rule<ResponsesView>[] = [
  {
    id: 'json',
    level: 'refuse',
    check: ({ request }) => (request.isJsonObject ? undefined : 'We could not parse the JSON body of your request.'),
  },
  {
    id: 'model',
    level: 'refuse',
    check: ({ model, settings }) => {
      if (model === '')
        return { message: "Missing required parameter: 'model'.", param: 'model', code: 'missing_required_parameter' }
      return settings.models?.includes(model) === false
        ? { message: `The requested model '${model}' does not exist.`, param: 'model', code: 'model_not_found' }
        : undefined
    },
  },
  {
    id: 'OR1.missing',
    level: 'refuse',
    check: ({ body }) =>
      body['input'] === undefined && body['previous_response_id'] === undefined
        ? { message: "Missing required parameter: 'input'.", param: 'input', code: 'missing_required_parameter' }
        : undefined,
  },
  {
    id: 'OR1.empty',
    level: 'refuse',
    check: ({ body, items }) =>
      items.length === 0 && body['previous_response_id'] === undefined
        ? {
            message: 'One of "input" or "previous_response_id" or \'prompt\' or \'conversation\' must be provided.',
            param: 'input',
            code: 'missing_required_parameter',
          }
        : undefined,
  },
  {
    id: 'OR14.tokens',
    level: 'refuse',
    check: ({ body }) => {
      const most = body['max_output_tokens']
      return typeof most === 'number' && most < 16
        ? {
            message: `Invalid 'max_output_tokens': integer below minimum value. Expected a value >= 16, but got ${most} instead.`,
            param: 'max_output_tokens',
            code: 'integer_below_min_value',
          }
        : undefined
    },
  },
  {
    id: 'OR2',
    level: 'refuse',
    check: (view) =>
      firstOf(messages(view), ({ fields: { role }, index }) =>
        ['user', 'system', 'developer', 'assistant'].includes(stringOf(role))
          ? undefined
          : invalidValue(role, "'assistant', 'system', 'developer', and 'user'", `input[${index}]`),
      ),
  },
  {
    id: 'OR3',
    level: 'refuse',
    check: (view) =>
      firstOf(messages(view), ({ fields, index }) => {
        const isAssistant = fields['role'] === 'assistant'
        const extra = Object.keys(fields).find((key) => !messageKeys.has(key) && !(key === 'phase' && isAssistant))
        const param = `input[${index}].${String(extra)}`
        return extra === undefined
          ? undefined
          : { message: `Unknown parameter: '${param}'.`, param, code: 'unknown_parameter' }
      }),
  },
  {
    id: 'OR4',
    level: 'refuse',
    check: (view) =>
      firstOf(messages(view), ({ fields, index }) =>
        firstOf(listOf(fields['content']).map(fieldsOf), ({ type }, at) => {
          const legal = partsOfRole[stringOf(fields['role'])] ?? inputParts
          return legal.includes(stringOf(type))
            ? undefined
            : invalidValue(type, legal.map((one) => `'${one}'`).join(', '), `input[${index}].content[${at}]`)
        }),
      ),
  },
  {
    id: 'OR7',
    level: 'refuse',
    check: ({ items }) =>
      firstOf(
        items.filter(({ type }) => type === 'function_call' || type === 'function_call_output'),
        callIdFault,
      ),
  },
  {
    id: 'OR8',
    level: 'refuse',
    check: ({ items }) =>
      firstOf(items, ({ type, id, index }) => {
        const prefix = idPrefixes[type]
        if (id === undefined || prefix === undefined) return undefined
        return id.startsWith(prefix) && /^[A-Za-z0-9_-]+$/.test(id)
          ? undefined
          : {
              message: `Invalid 'input[${index}].id': '${id}'. Expected an ID that begins with '${prefix}'.`,
              param: `input[${index}].id`,
              code: 'invalid_value',
            }
      }),
  },
  {
    id: 'OC8.history',
    level: 'refuse',
    check: ({ items }) =>
      firstOf(items, ({ type, fields, index }) =>
        type === 'function_call' ? nameFault(fields['name'], `input[${index}].name`) : undefined,
      ),
  },
  {
    id: 'OC8.tools',
    level: 'refuse',
    check: ({ tools }) =>
      firstOf(tools, ({ type, name }, index) =>
        type === 'function' ? nameFault(name, `tools[${index}].name`) : undefined,
      ),
  },
  {
    id: 'OR14.previous',
    level: 'refuse',
    check: ({ body, memory }) => {
      const id = body['previous_response_id']
      return typeof id === 'string' && memory.response(id) === undefined
        ? {
            message: `Previous response with id '${id}' not found.`,
            param: 'previous_response_id',
            code: 'previous_response_not_found',
          }
        : undefined
    },
  },
  {
    id: 'OR12',
    level: 'refuse',
    check: ({ items, memory }) =>
      firstOf(items, ({ type, id, fields }) => {
        const isReference = type === 'item_reference' || (type === 'reasoning' && fields['encrypted_content'] == null)
        return isReference && memory.item(id ?? '') === undefined
          ? {
              status: 404,
              message: `Item with id '${id ?? ''}' not found. Items are not persisted when \`store\` is set to false.`,
              param: 'input',
            }
          : undefined
      }),
  },
  {
    id: 'OR13',
    level: 'refuse',
    check: ({ items, memory }) =>
      firstOf(items, ({ type, fields }) => {
        const encrypted = fields['encrypted_content']
        return type === 'reasoning' && typeof encrypted === 'string' && !memory.isGenuine(encrypted, fields['id'])
          ? {
              message: `The encrypted content ${encrypted.slice(0, 4)}..${encrypted.slice(-1)} could not be verified.`,
              code: 'invalid_encrypted_content',
            }
          : undefined
      }),
  },
  {
    id: 'OR9',
    level: 'refuse',
    check: ({ items, chained }) => {
      const sent = items.flatMap(({ id }) => id ?? [])
      const known = new Set(chained.flatMap(({ id }) => (typeof id === 'string' ? id : [])))
      const again = repeated(sent)[0] ?? sent.find((id) => known.has(id))
      return again === undefined
        ? undefined
        : {
            message: `Duplicate item found with id ${again}. Remove duplicate items from your input and try again.`,
            param: 'input',
          }
    },
  },
  {
    id: 'OR10',
    level: 'refuse',
    check: (view) =>
      firstOf(view.items, ({ type, id, resolved }) => {
        if (id === undefined || (type !== 'function_call' && resolved['type'] !== 'function_call')) return undefined
        const reason = view.memory.reasonOf(id)
        return reason === undefined || isKnownItem(view, reason)
          ? undefined
          : {
              message: `Item '${id}' of type 'function_call' was provided without its required 'reasoning' item: '${reason}'.`,
              param: 'input',
            }
      }),
  },
  {
    id: 'OR11',
    level: 'portable',
    check: ({ items }) =>
      firstOf(items, ({ resolved, id, index }) => {
        if (resolved['type'] !== 'reasoning') return undefined
        const next = items[index + 1]?.resolved
        const isFollower =
          next?.['type'] === 'reasoning' || next?.['type'] === 'function_call' || next?.['role'] === 'assistant'
        return isFollower
          ? undefined
          : {
              message: `Item '${id ?? ''}' of type 'reasoning' was provided without its required following item.`,
              param: 'input',
            }
      }),
  },
  {
    id: 'OR6',
    level: 'refuse',
    check: (view) => {
      const calls = callIds(conversation(view), 'function_call')
      const stray = callIds(
        view.items.map(({ fields }) => fields),
        'function_call_output',
      ).find((id) => !calls.includes(id))
      return stray === undefined
        ? undefined
        : { message: `No tool call found for function call output with call_id ${stray}.`, param: 'input' }
    },
  },
  {
    id: 'OR5',
    level: 'refuse',
    check: (view) => {
      const all = conversation(view)
      const outputs = callIds(all, 'function_call_output')
      const open = callIds(all, 'function_call').find((id) => !outputs.includes(id))
      return open === undefined ? undefined : noOutput(open)
    },
  },
  {
    id: 'OR5.adjacent',
    level: 'portable',
    check: (view) => {
      const open = separatedCall(view)
      return open === undefined ? undefined : noOutput(open)
    },
  },
  {
    id: 'OR15',
    level: 'refuse',
    check: ({ request, settings: { contextTokens = Infinity } }) =>
      request.tokens > contextTokens
        ? {
            // A stream has begun by the time the provider counts.
            status: wantsStream(request) ? 200 : 400,
            message: 'Your input exceeds the context window of this model. Please adjust your input and try again.',
            param: 'input',
            code: 'context_length_exceeded',
          }
        : undefined,
  },
]
