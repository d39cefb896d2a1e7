import { defineConfig } from 'tsup'

/** How every package is built; `dts` writes type declarations too. */
export function tsupPackage(entry: string[], dts = true): ReturnType<typeof defineConfig> {
  return defineConfig({ entry, format: ['esm'], target: 'es2023', dts, clean: true, tsconfig: 'tsconfig.build.json' })
}
