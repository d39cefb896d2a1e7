/** Writes the generated pages; with `--check`, says which are stale instead and exits 1. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { acceptanceCodesPage } from './generators/acceptance-codes.ts'
import { conformancePage } from './generators/conformance.ts'
import { eventCatalog } from './generators/event-catalog.ts'
import { rfcIndex } from './generators/rfc-index.ts'
import { sessionFormat } from './generators/session-format.ts'
import { report } from './lib/report.ts'
import { repoRoot } from './lib/workspace.ts'

const pages: Record<string, () => string> = {
  'docs/acceptance-codes.md': acceptanceCodesPage,
  'docs/conformance.md': conformancePage,
  'docs/event-catalog.md': eventCatalog,
  'docs/rfcs/README.md': rfcIndex,
  'docs/session-format.schema.json': sessionFormat,
}

const isCheck = process.argv.includes('--check')
const faults: string[] = []
for (const [path, render] of Object.entries(pages)) {
  const file = join(repoRoot, path)
  try {
    const text = render()
    const isCurrent = existsSync(file) && readFileSync(file, 'utf8') === text
    if (isCurrent) continue
    if (isCheck) faults.push(`${path} is stale: run 'pnpm generate'`)
    else writeFileSync(file, text)
  } catch (error) {
    faults.push(`${path}: ${error instanceof Error ? error.message : String(error)}`)
  }
}
report('generated pages', faults, Object.keys(pages).join(', '))
