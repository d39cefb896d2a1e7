interface Block {
  readonly type?: string
  readonly id?: string
  readonly tool_use_id?: string
}
interface Line {
  readonly type?: string
  readonly uuid?: string
  readonly parentUuid?: string | null
  readonly logicalParentUuid?: string
  readonly isSidechain?: boolean
  readonly message?: { readonly id?: string; readonly content?: string | readonly Block[] }
}

/**
 * Counts the calls of a file's conversation, also those before a compaction, and their answers, with no code of the importer: sets over whole
 * lines, from the last line back, then every sibling of a response and every answer.
 */
export function countIndependently(text: string): { calls: number; answered: number } {
  const all = text.split('\n').flatMap(parsed)
  const own = all.some((line) => isTalk(line) && line.isSidechain !== true)
  const lines = all.filter((line) => (line.isSidechain === true) === !own)
  const byUuid = new Map(lines.map((line) => [line.uuid, line]))
  const above = (line: Line): Line | undefined => byUuid.get(line.parentUuid ?? line.logicalParentUuid ?? 'none')
  const rootOf = (line: Line): Line => {
    const next = above(line)
    return next === undefined ? line : rootOf(next)
  }
  const talk = lines.filter(isTalk)
  const last = talk.at(-1)
  if (last === undefined) return { calls: 0, answered: 0 }
  const chosen = new Set<Line>()
  if (talk.every((line) => above(line) === undefined)) for (const line of talk) chosen.add(line)
  for (let at: Line | undefined = last; at !== undefined; at = above(at)) chosen.add(at)
  const same = talk.filter((line) => rootOf(line) === rootOf(last))
  const ids = new Set([...chosen].map((line) => line.message?.id))
  ids.delete(undefined)
  for (const line of same) if (ids.has(line.message?.id)) chosen.add(line)
  const uses = new Set([...chosen].flatMap(calls))
  for (const line of same) if (answers(line).some((id) => uses.has(id))) chosen.add(line)
  const given = new Set([...chosen].flatMap(answers))
  const made = [...chosen].flatMap(calls)
  return { calls: made.length, answered: made.filter((id) => given.has(id)).length }
}

function parsed(line: string): Line[] {
  try {
    const value: unknown = JSON.parse(line)
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? [value] : []
  } catch {
    return []
  }
}

const blocks = ({ message }: Line): readonly Block[] => (Array.isArray(message?.content) ? message.content : [])
const isTalk = ({ type, message }: Line): boolean =>
  (type === 'user' || type === 'assistant') && (typeof message?.content === 'string' || Array.isArray(message?.content))
const calls = (line: Line): string[] =>
  blocks(line).flatMap((block) => (block.type === 'tool_use' ? [block.id ?? ''] : []))
const answers = (line: Line): string[] =>
  blocks(line).flatMap((block) => (block.type === 'tool_result' ? [block.tool_use_id ?? ''] : []))
