import { existsSync, readdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'

const packages = fileURLToPath(new URL('./packages/', import.meta.url))
const tsconfig = fileURLToPath(new URL('./tsconfig.json', import.meta.url))
const isDeep = process.env['PALIMPSEST_DEEP'] === '1'
const conditions = ['@palimpsest/source', 'module', 'node', 'development|production']

const roots = readdirSync(packages)
  .flatMap((area) => readdirSync(`${packages}${area}`).map((name) => ({ name, root: `${packages}${area}/${name}` })))
  .filter(({ root }) => existsSync(`${root}/tests`) && existsSync(`${root}/package.json`))

/**
 * One project per package, and `types` for the type tests of all: the compiler then runs once.
 * `PALIMPSEST_DEEP=1` adds the slow `*.deep.spec.ts` files.
 */
export default defineConfig({
  test: {
    projects: [
      ...roots.map(({ name, root }) => ({
        root,
        resolve: { conditions },
        ssr: { resolve: { conditions } },
        test: {
          name,
          include: ['tests/**/*.spec.ts'],
          exclude: isDeep ? [] : ['tests/**/*.deep.spec.ts'],
          // On shared machines disks and processes take their time: a timeout is there for what hangs. Milliseconds.
          testTimeout: isDeep ? 1_200_000 : 120_000,
          hookTimeout: 120_000,
        },
      })),
      {
        root: fileURLToPath(new URL('.', import.meta.url)),
        test: {
          name: 'types',
          include: [],
          typecheck: { enabled: true, only: true, include: ['packages/*/*/tests/**/*.spec-d.ts'], tsconfig },
        },
      },
    ],
    // Every core: left to itself, vitest keeps one free, which on two cores is half of them.
    maxWorkers: '100%',
    // Measured with `--coverage` only. The kernel's promise is about every branch of it.
    coverage: {
      provider: 'v8',
      include: ['packages/core/session/src/**/*.ts'],
      reporter: ['text'],
      thresholds: { branches: 100 },
    },
  },
})
