interface Payload {
  readonly type?: string
  readonly call_id?: string
  readonly id?: string
  readonly role?: string
}
interface Line {
  readonly type?: string
  readonly payload?: Payload
}

const calls = new Set(['function_call', 'custom_tool_call', 'local_shell_call', 'tool_search_call'])

/** Counts of a rollout file with envelopes, with no code of the importer: multisets of ids, whatever the order. */
export function countCodex(text: string): { calls: number; answered: number; users: number; compactions: number } {
  const lines = text.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line) as Line]))
  const items = lines.flatMap(({ type, payload }) =>
    type === 'response_item' && payload !== undefined ? [payload] : [],
  )
  const idsOf = (wanted: (type: string) => boolean): string[] =>
    items.flatMap(({ type = '', call_id: id = '' }) => (wanted(type) ? [id] : []))
  const made = idsOf((type) => calls.has(type))
  const given = idsOf((type) => type.endsWith('_output'))
  const times = (list: readonly string[], id: string): number => list.filter((other) => other === id).length
  return {
    calls: made.length,
    answered: [...new Set(made)].reduce((sum, id) => sum + Math.min(times(made, id), times(given, id)), 0),
    users: items.filter(({ type, role }) => type === 'message' && (role === 'user' || role === 'developer')).length,
    compactions: lines.filter(({ type }) => type === 'compacted').length,
  }
}
