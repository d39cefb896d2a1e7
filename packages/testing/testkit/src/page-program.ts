import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename } from 'node:path'
import { fileURLToPath } from 'node:url'
import { format } from 'node:util'

/** What a program wrote through `console.log`, and what its page says that it writes. */
export interface PageRun {
  readonly printed: readonly string[]
  /** The comments behind each `console.log`. */
  readonly promised: readonly string[]
}

/**
 * Runs the one program of a page: the `ts` block that prints. `home` is the URL of the test file: the program runs from
 * below its package, so that it finds its imports as a reader's file does. Throws unless there is exactly one that
 * promises something.
 */
export async function runPageProgram(page: URL, home: string): Promise<PageRun> {
  const blocks = [...readFileSync(page, 'utf8').matchAll(/^```ts\n([^]*?)^```$/gm)].map(([, block]) => block ?? '')
  const [program, ...others] = blocks.filter((block) => block.includes('console.log'))
  const promised = [...(program ?? '').matchAll(/console\.log\(.*\/\/ (.*)$/gm)].map(([, comment]) => comment ?? '')
  if (program === undefined || others.length > 0 || promised.length === 0) {
    throw new Error(
      `${basename(page.pathname)} has ${others.length + Number(program !== undefined)} programs that print: expected one, with comments that say what`,
    )
  }
  const scratch = new URL(`../.cache/page-${process.pid}-${(runs += 1)}/`, home)
  mkdirSync(scratch, { recursive: true })
  const file = fileURLToPath(new URL('program.ts', scratch))
  writeFileSync(file, program)
  try {
    return { printed: await printedBy(file), promised }
  } finally {
    rmSync(scratch, { recursive: true, force: true })
  }
}

let runs = 0

async function printedBy(file: string): Promise<string[]> {
  const lines: string[] = []
  const { log } = console
  console.log = (...values: unknown[]) => void lines.push(format(...values))
  try {
    await import(/* @vite-ignore */ file)
  } finally {
    console.log = log
  }
  return lines
}
