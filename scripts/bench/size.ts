import { join } from 'node:path'
import { brotliCompressSync } from 'node:zlib'
import { build } from 'esbuild'
import { repoRoot } from '../lib/workspace.ts'

const bar = 25

/** Row 11 of SPEC 10: bytes of the kernel in a browser bundle, minified and compressed with brotli, without zod. */
export async function sizeOfKernel(): Promise<{ readonly text: string; readonly isReached: boolean }> {
  const { outputFiles } = await build({
    entryPoints: [join(repoRoot, 'packages/core/session/src/index.ts')],
    bundle: true,
    minify: true,
    write: false,
    platform: 'browser',
    format: 'esm',
    target: 'es2023',
    external: ['zod'],
    conditions: ['@palimpsest/source'],
    logLevel: 'warning',
  })
  const minified = outputFiles[0]?.contents ?? new Uint8Array()
  const kilobytes = brotliCompressSync(minified).length / 1000
  const isReached = kilobytes <= bar
  const verdict = isReached ? 'reached' : 'NOT reached'
  const text = [
    `core/session in a browser bundle, without zod: ${(minified.length / 1000).toFixed(1)} kB minified`,
    `  bar ≤ ${bar} kB with brotli, got ${kilobytes.toFixed(1)} kB: ${verdict}`,
    '',
  ].join('\n')
  return { text, isReached }
}
