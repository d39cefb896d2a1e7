import { defineConfig } from 'tsup'

export default defineConfig({
  entry: ['src/index.ts', 'src/contract-suite.ts'],
  format: ['esm'],
  target: 'es2023',
  dts: true,
  clean: true,
  tsconfig: 'tsconfig.build.json',
})
