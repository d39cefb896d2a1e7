import { isObject, objectMember, stringMember } from '../json.ts'
import type { LooseObject } from '../json.ts'

/**
 * The parts of a message in the form of version 5: its own where they are of that version, and those of version 4, where
 * calls stand in `toolInvocations` beside a `content` of text. `undefined` where there is neither.
 */
export function olderParts(value: LooseObject, parts: readonly unknown[] | undefined): readonly unknown[] | undefined {
  const attached = attachments(value)
  if (parts !== undefined) return [...parts.map(newPart), ...attached]
  const content = stringMember(value, 'content')
  const invocations = Array.isArray(value['toolInvocations']) ? (value['toolInvocations'] as readonly unknown[]) : []
  if (content === undefined && invocations.length === 0) return undefined
  const reasoning = stringMember(value, 'reasoning')
  const called: unknown[] = []
  let step: unknown
  for (const invocation of invocations) {
    const next = isObject(invocation) ? invocation['step'] : undefined
    if (called.length > 0 && next !== step) called.push({ type: 'step-start' })
    step = next
    called.push(isObject(invocation) ? toolPart(invocation) : invocation)
  }
  return [
    ...(reasoning === undefined ? [] : [{ type: 'reasoning', text: reasoning }]),
    ...called,
    // The text is what the model said in the end.
    ...(called.length > 0 && content !== undefined && content !== '' ? [{ type: 'step-start' }] : []),
    ...(content === undefined || (content === '' && called.length > 0) ? [] : [{ type: 'text', text: content }]),
    ...attached,
  ]
}

function attachments(value: LooseObject): unknown[] {
  const given = value['experimental_attachments']
  if (!Array.isArray(given)) return []
  return (given as readonly unknown[]).map((file) => {
    if (!isObject(file)) return file
    const filename = stringMember(file, 'name')
    return {
      type: 'file',
      mediaType: stringMember(file, 'contentType') ?? 'application/octet-stream',
      url: file['url'],
      ...(filename === undefined ? {} : { filename }),
    }
  })
}

function newPart(part: unknown): unknown {
  if (!isObject(part)) return part
  if (part['type'] === 'tool-invocation') {
    const invocation = objectMember(part, 'toolInvocation')
    return invocation === undefined ? part : toolPart(invocation)
  }
  if (part['type'] === 'reasoning' && !Object.hasOwn(part, 'text')) {
    const text = stringMember(part, 'reasoning')
    return text === undefined ? part : { type: 'reasoning', text, ...signature(part) }
  }
  if (part['type'] === 'file' && !Object.hasOwn(part, 'url')) {
    const mediaType = stringMember(part, 'mimeType')
    const data = stringMember(part, 'data')
    return mediaType === undefined || data === undefined
      ? part
      : { type: 'file', mediaType, url: `data:${mediaType};base64,${data}` }
  }
  return part
}

/** The signature of Anthropic, where the details of a reasoning part have one. */
function signature(part: LooseObject): LooseObject {
  const details = Array.isArray(part['details']) ? (part['details'] as readonly unknown[]) : []
  const found = details.flatMap((detail) => (isObject(detail) ? (stringMember(detail, 'signature') ?? []) : []))
  return found[0] === undefined ? {} : { providerMetadata: { anthropic: { signature: found[0] } } }
}

const states: ReadonlyMap<unknown, string> = new Map([
  ['partial-call', 'input-streaming'],
  ['call', 'input-available'],
  ['result', 'output-available'],
])

function toolPart(invocation: LooseObject): LooseObject {
  return {
    type: `tool-${stringMember(invocation, 'toolName') ?? ''}`,
    toolCallId: invocation['toolCallId'],
    state: states.get(invocation['state']),
    input: invocation['args'],
    ...(Object.hasOwn(invocation, 'result') ? { output: invocation['result'] } : {}),
  }
}
