import { describe, elements, isRecord, member } from '../shared/json-reader.ts'
import type { Violation } from '../shared/rule.ts'
import type { AiSdkForm, PartView } from './view.ts'

/** Parts of a `content` output, and those that people may write beyond them. */
const CONTENT = ['text', 'file', 'custom']
const MORE_CONTENT = [
  'file-data',
  'file-url',
  'file-id',
  'file-reference',
  'image-data',
  'image-url',
  'image-file-id',
  'image-file-reference',
]

/** What is wrong with the `output` of a tool-result part. */
export function resultOutputShape(
  part: PartView,
  form: AiSdkForm,
  at: (path: string, message: string) => Violation,
): Violation[] {
  const path = `${part.path}.output`
  const output = member(part.value, 'output')
  const value = member(output, 'value')
  switch (member(output, 'type')) {
    case 'text':
    case 'error-text':
      return typeof value === 'string' ? [] : [at(`${path}.value`, 'a text output needs a string here')]
    case 'json':
    case 'error-json':
      return value === undefined ? [at(`${path}.value`, 'a json output needs a value')] : []
    case 'execution-denied':
      return []
    case 'content': {
      if (!Array.isArray(value)) return [at(`${path}.value`, `the value of a content output is not ${describe(value)}`)]
      const takes = form === 'messages' ? [...CONTENT, ...MORE_CONTENT] : CONTENT
      return elements(value).flatMap((inner, index) => contentShape(inner, takes, `${path}.value.${index}`, at))
    }
    default:
      return [at(`${path}.type`, `${describe(member(output, 'type'))} is no type of output`)]
  }
}

function contentShape(
  inner: unknown,
  takes: readonly string[],
  path: string,
  at: (path: string, message: string) => Violation,
): Violation[] {
  const type = member(inner, 'type')
  if (typeof type !== 'string' || !takes.includes(type))
    return [at(`${path}.type`, `a content output takes no ${describe(type)} part`)]
  if (type === 'text' && typeof member(inner, 'text') !== 'string')
    return [at(`${path}.text`, 'a text needs a string here')]
  const hasData = typeof member(inner, 'mediaType') === 'string' && isRecord(member(inner, 'data'))
  return type === 'file' && !hasData ? [at(path, 'a file needs a mediaType and data')] : []
}
