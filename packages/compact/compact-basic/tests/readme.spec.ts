import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { format } from 'node:util'
import { afterAll, describe, expect, it, vi } from 'vitest'

const repository = new URL('../../../../', import.meta.url)
/** Below the package, so that an example finds its imports as a reader's file does. */
const scratch = new URL(`../.cache/readme-${process.pid}/`, import.meta.url)

const pages = ['packages/compact/compact-basic/README.md']

function programs(page: string): string[] {
  const text = readFileSync(new URL(page, repository), 'utf8')
  const blocks = [...text.matchAll(/^```ts\n([^]*?)^```$/gm)].map(([, block]) => block ?? '')
  return blocks.filter((block) => block.includes('console.log'))
}

/** What the program says that it prints: the comment behind each `console.log`. */
function promised(program: string): string[] {
  return [...program.matchAll(/console\.log\(.*\/\/ (.*)$/gm)].map(([, comment]) => comment ?? '')
}

async function printed(program: string, name: string): Promise<string[]> {
  mkdirSync(scratch, { recursive: true })
  const file = fileURLToPath(new URL(`${name}.ts`, scratch))
  writeFileSync(file, program)
  const lines: string[] = []
  const log = vi.spyOn(console, 'log').mockImplementation((...values: unknown[]) => void lines.push(format(...values)))
  try {
    await import(file)
  } finally {
    log.mockRestore()
  }
  return lines
}

describe('the program on a page', () => {
  afterAll(() => rmSync(scratch, { recursive: true, force: true }))

  it.each(pages)('prints what it says that it prints: %s', async (page) => {
    const [program, ...others] = programs(page)
    expect(others).toEqual([])
    const expected = promised(program ?? '')
    expect(expected).not.toEqual([])
    expect(await printed(program ?? '', page.replaceAll('/', '-'))).toEqual(expected)
  })
})
