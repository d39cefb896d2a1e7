import type { Cli } from '../cli.ts'
import type { ListedSession } from '../import/find.ts'
import { table } from './table.ts'
import { argument, bytes, count, moment, oneLine } from './text.ts'

/** The list of `palimpsest import` without a path, as JSON. */
export function foundJson(found: readonly ListedSession[], imported: ReadonlySet<string>): object {
  return {
    found: found.map(({ sessionId: id, agent, path, cwd, modifiedAt, byteLength, firstPrompt, agentPaths }) => ({
      id,
      agent,
      path,
      cwd,
      modifiedAt,
      bytes: byteLength,
      firstPrompt,
      agents: agentPaths,
      imported: imported.has(id),
    })),
  }
}

/** The list for people, and how to go on. */
export function renderFound(
  { io, style }: Cli,
  found: readonly ListedSession[],
  imported: ReadonlySet<string>,
): string {
  const rows = table(
    found,
    [
      { title: 'session', text: ({ sessionId }) => oneLine(sessionId), paint: (text) => style('bold', text) },
      { title: 'agent', text: ({ agent }) => agent },
      { title: 'changed (UTC)', text: ({ modifiedAt }) => moment(modifiedAt), paint: (text) => style('dim', text) },
      { title: 'size', align: 'right', text: ({ byteLength }) => bytes(byteLength) },
      {
        title: '',
        text: ({ sessionId }) => (imported.has(sessionId) ? 'imported' : ''),
        paint: (text) => style('green', text),
      },
      { title: 'first prompt', text: ({ firstPrompt }) => oneLine(firstPrompt ?? '') },
    ],
    io.columns,
    style,
  )
  const example = oneLine(argument(found[0]?.sessionId.slice(0, 8) ?? ''))
  return [
    rows.trimEnd(),
    style('dim', `${count(found.length, 'session')} on this machine`),
    `Import one: palimpsest import ${example}`,
    'Import all: palimpsest import --all',
    '',
  ].join('\n')
}
