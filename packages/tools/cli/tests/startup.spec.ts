import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { describe, expect, it } from 'vitest'

const main = fileURLToPath(new URL('../src/main.ts', import.meta.url))

/** Packages that only some commands need, and the published provider packages. */
const lazy = /agent-loop|compact-basic|tool-result-pruner|@ai-sdk[/+](anthropic|openai|deepseek|openai-compatible)/

describe('the command', () => {
  it('loads loop, compaction policy, pruner and providers only for the commands that use them', async () => {
    const { metafile } = await build({
      entryPoints: [main],
      outdir: 'nowhere',
      write: false,
      metafile: true,
      bundle: true,
      splitting: true,
      platform: 'node',
      format: 'esm',
      conditions: ['@palimpsest/source', 'module'],
      external: ['fs-native-extensions'],
      logLevel: 'silent',
    })
    const first = Object.entries(metafile.outputs).find(([, { entryPoint }]) => entryPoint?.endsWith('src/main.ts'))
    const loaded = new Set<string>()
    const open = first === undefined ? [] : [first[0]]
    for (let path = open.pop(); path !== undefined; path = open.pop()) {
      if (loaded.has(path)) continue
      loaded.add(path)
      for (const { path: next, kind, external } of metafile.outputs[path]?.imports ?? []) {
        if (kind === 'import-statement' && external !== true) open.push(next)
      }
    }
    const inputsOf = (paths: Iterable<string>): string[] =>
      [...paths]
        .flatMap((path) => Object.keys(metafile.outputs[path]?.inputs ?? {}))
        .filter((input) => lazy.test(input))
    expect(inputsOf(loaded)).toEqual([])
    expect(inputsOf(Object.keys(metafile.outputs)).length).toBeGreaterThan(10)
  })
})
