/**
 * Everything short of tests and packages. `pnpm check` runs all checks and says how each went; `pnpm check NAME…` runs
 * some; `pnpm check --list` names them.
 */
import { spawnSync } from 'node:child_process'
import { repoRoot } from './lib/workspace.ts'

const script = (name: string, ...args: string[]): string[] => [
  'tsx',
  '--conditions=@palimpsest/source',
  `scripts/${name}.ts`,
  ...args,
]

const checks: Record<string, readonly string[]> = {
  lint: ['oxlint'],
  format: ['oxfmt', '--check'],
  types: ['tsc', '-p', 'tsconfig.json'],
  imports: script('check-imports'),
  unused: ['knip'],
  generated: script('generate', '--check'),
  documented: script('type-equiv'),
  examples: script('check-docs'),
  translations: script('check-translations'),
  changesets: script('check-changesets'),
}

function passes(name: string): boolean {
  const [file, ...args] = checks[name] ?? []
  if (file === undefined) throw new Error(`there is no check '${name}': name one of ${Object.keys(checks).join(', ')}`)
  const { status, stdout, stderr } = spawnSync(file, args, { cwd: repoRoot, encoding: 'utf8' })
  console.log(`${status === 0 ? 'ok    ' : 'FAILED'} ${name}`)
  if (status !== 0) console.log(`${stdout}${stderr}`)
  return status === 0
}

const given = process.argv.slice(2)
if (given.includes('--list')) {
  console.log(Object.keys(checks).join('\n'))
} else {
  const names = given.length > 0 ? given : Object.keys(checks)
  const failed = names.filter((name) => !passes(name))
  if (failed.length > 0) {
    console.error(`${failed.length} of ${names.length} checks failed: ${failed.join(', ')}`)
    process.exitCode = 1
  }
}
