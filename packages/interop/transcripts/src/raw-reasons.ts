import type { ImportWarning } from './report.ts'

/** What a person should know of lines that are off the surface, by reason. */
const remarks: Readonly<Record<string, string>> = {
  'line/not-json': 'not JSON',
  'line/torn': 'cut off before its end',
  'line/not-utf8': 'not UTF-8',
  'line/not-object': 'no JSON object',
  'line/no-type': 'without a type',
  'line/unknown-type': 'of a type this importer does not know',
  'line/too-deep': 'nested too deep for a log',
  'line/repeated': 'written again elsewhere in the file',
  'line/unplaced': 'without a place in the conversation',
  attachment: 'attachments, which the model saw as reminders in a wording the file does not hold',
  'message/malformed': 'without a readable message',
  'message/empty': 'with nothing in it',
  'message/synthetic': 'written by the agent in place of a response: the model never saw it',
  'message/transcript-only': 'shown to the user only',
  'message/retracted': 'taken back by a later line',
  'branch/left': 'on a branch that the conversation left',
  'branch/other-root': 'of another conversation or of a copy written again',
  'block/unsupported': 'with blocks that no message here can hold',
  'item/server-tool': 'of a tool that ran at the provider: what it found, the file does not hold',
  'result/no-call': 'with an answer to a call that is not in the conversation',
  'result/preliminary': 'with a first answer of a call that was still running',
  'result/duplicate': 'with a second answer to a call',
}

/** One warning per kind of line that a person might miss on the surface. */
export function rawWarnings(raw: ReadonlyMap<number, string>): ImportWarning[] {
  const found = new Map<string, number[]>()
  for (const [line, reason] of raw) {
    const known = found.get(reason)
    if (known === undefined) found.set(reason, [line])
    else known.push(line)
  }
  return [...found].flatMap(([code, lines]) => {
    const remark = remarks[code]
    const [line] = lines
    if (remark === undefined || line === undefined) return []
    return [{ line, code, message: `${lines.length} line(s) ${remark}: kept raw, not on the surface` }]
  })
}
