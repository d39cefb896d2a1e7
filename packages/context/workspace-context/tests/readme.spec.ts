import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { format } from 'node:util'
import { expect, it, vi } from 'vitest'

const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8')
/** Below the package, so that the example finds its packages as a reader's file does. */
const scratch = new URL(`../.cache/readme-${process.pid}/`, import.meta.url)

it('the program of the README prints what it says that it prints', async () => {
  const [, program = ''] = /^```ts\n([^]*?)^```$/m.exec(readme) ?? []
  const promised = [...program.matchAll(/console\.log\(.*\/\/ (.*)$/gm)].map(([, comment]) => comment)
  expect(promised).not.toEqual([])
  mkdirSync(scratch, { recursive: true })
  const file = fileURLToPath(new URL('example.ts', scratch))
  writeFileSync(file, program)
  const lines: string[] = []
  const log = vi.spyOn(console, 'log').mockImplementation((...values: unknown[]) => void lines.push(format(...values)))
  try {
    await import(file)
  } finally {
    log.mockRestore()
    rmSync(scratch, { recursive: true, force: true })
  }
  expect(lines).toEqual(promised)
})
