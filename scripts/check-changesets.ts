/** Holds each changeset to its form: public packages, a kind of change, and words for the people who read the changelog. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { frontMatter } from './lib/markdown.ts'
import { report } from './lib/report.ts'
import { filesBelow, repoRoot, shown, workspacePackages } from './lib/workspace.ts'

const kinds = ['patch', 'minor', 'major']
const open = workspacePackages().filter(({ manifest }) => manifest.private !== true)
const names = new Set(open.map(({ name }) => name))

function faultsOf(file: string): string[] {
  const { fields, body } = frontMatter(readFileSync(file, 'utf8'))
  const entries = [...fields].map(([name, kind]) => ({ name: name.replaceAll(/^['"]|['"]$/g, ''), kind }))
  return [
    ...(entries.length === 0 ? ['names no package'] : []),
    ...(body.trim() === '' ? ['says nothing about the change'] : []),
    ...entries.filter(({ name }) => !names.has(name)).map(({ name }) => `${name} is no public package`),
    ...entries
      .filter(({ kind }) => !kinds.includes(kind))
      .map(({ name, kind }) => `${name} is '${kind}', expected ${kinds.join(', ')}`),
  ].map((fault) => `${shown(file)}: ${fault}`)
}

const files = filesBelow(join(repoRoot, '.changeset'), /^(?!README).*\.md$/)
report('changesets', files.flatMap(faultsOf), `${files.length} file(s)`)
