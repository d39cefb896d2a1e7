/** Packs each public package as it would be published, and looks at what users would get. Needs `pnpm build` before. */
import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { publint } from 'publint'
import { formatMessage } from 'publint/utils'
import { report } from './lib/report.ts'
import { repoRoot, workspacePackages, type PackageManifest, type WorkspacePackage } from './lib/workspace.ts'

const run = promisify(execFile)

/** Runs a tool and gives what it printed when it fails. */
async function complaint(file: string, args: readonly string[]): Promise<string[]> {
  try {
    await run(file, args, { cwd: repoRoot })
    return []
  } catch (error) {
    return [error instanceof Error && 'stdout' in error ? String(error.stdout) : String(error)]
  }
}

/** Fields and files that belong to the workspace must not reach the registry. */
function leaks({ manifest }: WorkspacePackage, packed: PackageManifest, files: readonly string[]): string[] {
  const ranges = Object.entries({ ...packed.dependencies, ...packed.peerDependencies, ...packed.optionalDependencies })
  const strays = files.filter(
    (file) => !/^(dist\/|package\.json$|README(\.zh)?\.md$|LICENSE$|CHANGELOG\.md$)/.test(file),
  )
  return [
    ...(JSON.stringify(packed.exports ?? {}).includes('@palimpsest/source')
      ? ['exports names the source condition: set publishConfig.exports']
      : []),
    ...Object.keys(manifest.exports ?? {})
      .filter((subpath) => packed.exports?.[subpath] === undefined)
      .map((subpath) => `publishConfig.exports lacks ${subpath}`),
    ...(packed.exports === undefined && packed.bin === undefined
      ? ['neither exports nor bin: nothing can be used']
      : []),
    ...ranges.filter(([, range]) => /^(workspace|catalog):/.test(range)).map(([name, range]) => `${name} is ${range}`),
    ...strays.map((file) => `${file} is packed: users need dist only`),
    ...['README.md', 'LICENSE'].filter((name) => !files.includes(name)).map((name) => `${name} is not packed`),
  ]
}

async function faultsOf(one: WorkspacePackage, destination: string): Promise<string[]> {
  const { stdout } = await run('pnpm', ['pack', '--json', '--pack-destination', destination], { cwd: one.root })
  const { filename } = JSON.parse(stdout) as { filename: string }
  const manifest = await run('tar', ['-xOf', filename, 'package/package.json'])
  const packed = JSON.parse(manifest.stdout) as PackageManifest & Record<string, unknown>
  const listing = await run('tar', ['-tf', filename])
  const files = listing.stdout
    .trim()
    .split('\n')
    .map((file) => file.replace(/^package\//, ''))
  const faults = leaks(one, packed, files)
  const { messages } = await publint({ pack: { tarball: new Uint8Array(readFileSync(filename)).buffer }, strict: true })
  faults.push(...messages.map((message) => `publint: ${formatMessage(message, packed) ?? message.code}`))
  const hasTypes = packed.exports !== undefined
  if (hasTypes)
    faults.push(...(await complaint('attw', [filename, '--profile', 'esm-only', '--no-color', '--no-emoji'])))
  return faults.map((fault) => `${one.place}: ${fault}`)
}

const destination = mkdtempSync(join(tmpdir(), 'palimpsest-pack-'))
try {
  const open = workspacePackages().filter(({ manifest }) => manifest.private !== true)
  const faults: string[] = []
  for (const one of open) faults.push(...(await faultsOf(one, destination)))
  report('packed packages', faults, open.map(({ name }) => name).join(', '))
} finally {
  rmSync(destination, { recursive: true })
}
