import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { build, type Plugin } from 'esbuild'
import { repoRoot } from '../lib/workspace.ts'

const here = join(repoRoot, 'scripts/bench')
const peers = join(here, 'peers')

/** The lock addon finds its binary beside its own file, so it stays where the store has it. */
const addonInPlace: Plugin = {
  name: 'addon-in-place',
  setup(context) {
    const { resolve } = createRequire(join(repoRoot, 'packages/session/session-persistence-jsonl/package.json'))
    context.onResolve({ filter: /^fs-native-extensions$/ }, ({ path }) => ({ path: resolve(path), external: true }))
  },
}

/** Installs the peers at their exact versions where they are not installed yet. */
export function installPeers(): void {
  if (existsSync(join(peers, 'node_modules'))) return
  console.error('installing the peers into scripts/bench/peers')
  const args = ['install', '--legacy-peer-deps', '--no-package-lock', '--no-audit', '--no-fund', '--silent']
  execFileSync('npm', args, { cwd: peers, stdio: 'inherit' })
}

/** Bundles one of the programs of this folder from our sources, for production. Returns the path of the module. */
export function bundleProgram(name: string, directory: string): Promise<string> {
  return bundle(join(here, `${name}.ts`), join(directory, `${name}.mjs`))
}

/** The module of a peer, as its makers published it. */
export function peerModule(name: string): string {
  const { resolve } = createRequire(join(peers, 'package.json'))
  return resolve(name)
}

async function bundle(entry: string, outfile: string): Promise<string> {
  await build({
    entryPoints: [entry],
    outfile,
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    conditions: ['@palimpsest/source', 'module', 'import'],
    define: { 'process.env.NODE_ENV': '"production"' },
    plugins: [addonInPlace],
    logLevel: 'warning',
  })
  return outfile
}
