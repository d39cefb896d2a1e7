/**
 * Holds each Chinese page to the English page that it translates. `docs/translations.json` has, for each, the SHA-256 of
 * the English text at the time of translation. `--record PAGE…` writes it, once the translation has been brought up to date.
 */
import { createHash } from 'node:crypto'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { report } from './lib/report.ts'
import { filesBelow, repoRoot, shown } from './lib/workspace.ts'

const recordFile = join(repoRoot, 'docs/translations.json')
const isRecording = process.argv.includes('--record')

function englishOf(page: string): string {
  return page.replace(/\.zh\.md$/, '.md')
}

function digest(page: string): string | undefined {
  const file = join(repoRoot, page)
  return existsSync(file) ? createHash('sha256').update(readFileSync(file)).digest('hex') : undefined
}

function record(pages: readonly string[]): void {
  const digests = new Map(Object.entries(recorded))
  for (const page of pages) {
    const current = digest(englishOf(page))
    if (!page.endsWith('.zh.md') || current === undefined) throw new Error(`${page} translates no page that exists`)
    digests.set(page, current)
  }
  const entries = [...digests]
    .filter(([page]) => existsSync(join(repoRoot, page)))
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
  writeFileSync(recordFile, `${JSON.stringify(Object.fromEntries(entries), null, 2)}\n`)
}

function faultOf(page: string): string | undefined {
  const english = englishOf(page)
  const current = digest(english)
  if (current === undefined) return `${page}: ${english} does not exist`
  if (recorded[page] === undefined)
    return `${page} is not recorded: run 'pnpm exec tsx scripts/check-translations.ts --record ${page}'`
  if (recorded[page] === current) return undefined
  return `${page} lags: ${english} changed since it was translated. Update it, then run 'pnpm exec tsx scripts/check-translations.ts --record ${page}'`
}

const recorded = (existsSync(recordFile) ? JSON.parse(readFileSync(recordFile, 'utf8')) : {}) as Record<string, string>

if (isRecording) {
  record(process.argv.slice(2).filter((argument) => argument !== '--record'))
} else {
  const found = filesBelow(repoRoot, /\.zh\.md$/).map(shown)
  const gone = Object.keys(recorded).filter((page) => !found.includes(page))
  const faults = [
    ...found.map(faultOf).filter((fault) => fault !== undefined),
    ...gone.map((page) => `${page} is recorded but gone`),
  ]
  report('translations', faults, `${found.length} page(s)`)
}
