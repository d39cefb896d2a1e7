import { spawn } from 'node:child_process'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { scratch } from './support.ts'

const main = fileURLToPath(new URL('../src/main.ts', import.meta.url))
const jsonl = fileURLToPath(new URL('../../../session/session-persistence-jsonl/package.json', import.meta.url))

/** The command in one file, as a user's Node runs it. Answers its path. */
export async function bundleCommand(): Promise<string> {
  const outfile = join(scratch(), 'main.mjs')
  await build({
    entryPoints: [main],
    outfile,
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    conditions: ['@palimpsest/source', 'module'],
    banner: { js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);" },
    // A native addon finds its binary beside its own file.
    alias: { 'fs-native-extensions': createRequire(jsonl).resolve('fs-native-extensions') },
    external: [createRequire(jsonl).resolve('fs-native-extensions')],
    logLevel: 'silent',
  })
  return outfile
}

export interface Ended {
  readonly code: number | null
  readonly out: string
  readonly err: string
}

/** Runs the bundled command to its end. */
export async function runCommand(
  program: string,
  argv: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<Ended> {
  const child = spawn(process.execPath, [program, ...argv], {
    env: { PATH: process.env['PATH'], ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let [out, err] = ['', '']
  child.stdout.on('data', (chunk: Buffer) => (out += chunk.toString()))
  child.stderr.on('data', (chunk: Buffer) => (err += chunk.toString()))
  const code = await new Promise<number | null>((resolve) => child.on('close', resolve))
  return { code, out, err }
}
