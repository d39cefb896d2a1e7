import { defineConfig } from 'tsup'

export default defineConfig({
  entry: ['src/main.ts'],
  format: ['esm'],
  target: 'es2023',
  dts: false,
  clean: true,
  tsconfig: 'tsconfig.build.json',
})
