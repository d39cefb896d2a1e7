import { existsSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { frontMatter, tableRow } from '../lib/markdown.ts'
import { filesBelow, repoRoot, shown } from '../lib/workspace.ts'

const statuses = ['proposed', 'implemented', 'rejected']
const sections = ['Problem', 'Decision', 'Alternatives', 'Consequences', 'Verification']

function row(file: string): string {
  const { fields, body } = frontMatter(readFileSync(file, 'utf8'))
  const [title, status, date] = ['title', 'status', 'date'].map((field) => fields.get(field) ?? '')
  const wrong = (what: string): Error => new Error(`${shown(file)}: ${what}`)
  if (!title) throw wrong('the front matter has no title')
  if (!status || !statuses.includes(status))
    throw wrong(`status is '${status}', expected one of ${statuses.join(', ')}`)
  if (!date || !/^\d{4}-\d{2}-\d{2}$/.test(date)) throw wrong(`date is '${date}', expected YYYY-MM-DD`)
  const missing = sections.filter((section) => !new RegExp(`^## ${section}$`, 'm').test(body))
  if (missing.length > 0) throw wrong(`sections are missing: ${missing.map((section) => `## ${section}`).join(', ')}`)
  const name = basename(file)
  const chinese = name.replace(/\.md$/, '.zh.md')
  const translation = existsSync(join(file, '..', chinese)) ? `[中文](${chinese})` : ''
  return tableRow([name.slice(0, 4), `[${title}](${name})`, status, date, translation])
}

/** `docs/rfcs/README.md` from the front matter of the pages beside it. Throws on a page that is not in form. */
export function rfcIndex(): string {
  const files = filesBelow(join(repoRoot, 'docs/rfcs'), /^\d{4}-[a-z0-9-]+\.md$/)
  const numbers = files.map((file) => basename(file).slice(0, 4))
  const twice = numbers.find((number, index) => numbers.indexOf(number) !== index)
  if (twice !== undefined) throw new Error(`docs/rfcs: the number ${twice} is taken twice`)
  return [
    '# Decisions',
    '',
    'One page for each choice that a newcomer would otherwise undo: the problem, the decision, the alternatives, the consequences, and how it is verified.',
    '',
    tableRow(['number', 'decision', 'status', 'date', '']),
    tableRow(['---', '---', '---', '---', '---']),
    ...files.map(row),
    '',
  ].join('\n')
}
