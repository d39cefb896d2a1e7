import fc from 'fast-check'
import { tangled } from './fixture.ts'
import type { Edit } from './fuzz.ts'

const uuids = [...new Set(tangled().lines.flatMap((line) => /"uuid":"([^"]*)"/.exec(line)?.[1] ?? []))]
const ids = ['m1', 'm2', 'm6', 'c1', 'c2', 'c3', '']
const blocks = ['user', 'assistant', 'system', 'text', 'tool_use', 'tool_result', 'thinking', 'image', 'what']

const swapMember = (member: string, values: readonly (string | null)[]): fc.Arbitrary<Edit> =>
  fc.tuple(fc.nat(10_000), fc.constantFrom(...values)).map(([at, value]): Edit => (lines) => {
    const place = lines.length === 0 ? 0 : at % lines.length
    const line = lines[place] ?? ''
    lines[place] = line.replace(new RegExp(`"${member}":("[^"]*"|null)`), `"${member}":${JSON.stringify(value)}`)
  })

/** Edges of the graph, groups of a response and pairs of a call that point elsewhere. */
export const claudeEdits: fc.Arbitrary<Edit> = fc.oneof(
  swapMember('parentUuid', [null, 'nowhere', ...uuids]),
  swapMember('logicalParentUuid', ['nowhere', ...uuids]),
  swapMember('uuid', ['', ...uuids]),
  swapMember('id', ids),
  swapMember('tool_use_id', ids),
  swapMember('type', blocks),
  swapMember('content', ['', 'text']),
)
