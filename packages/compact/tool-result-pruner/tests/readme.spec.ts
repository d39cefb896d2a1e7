import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { format } from 'node:util'
import { afterAll, expect, it, vi } from 'vitest'

const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8')
/** Below the package, so that the example finds its imports as a reader's file does. */
const scratch = new URL(`../.cache/readme-${process.pid}/`, import.meta.url)

afterAll(() => rmSync(scratch, { recursive: true, force: true }))

it('the README program prints what it says that it prints', async () => {
  const [program = ''] = [...readme.matchAll(/^```ts\n([^]*?)^```$/gm)].map(([, block]) => block ?? '')
  const promised = [...program.matchAll(/console\.log\(.*\/\/ (.*)$/gm)].map(([, comment]) => comment)
  expect(promised).not.toEqual([])
  mkdirSync(scratch, { recursive: true })
  const file = fileURLToPath(new URL('program.ts', scratch))
  writeFileSync(file, program)
  const lines: string[] = []
  const log = vi.spyOn(console, 'log').mockImplementation((...values: unknown[]) => void lines.push(format(...values)))
  try {
    await import(file)
  } finally {
    log.mockRestore()
  }
  expect(lines).toEqual(promised)
})
