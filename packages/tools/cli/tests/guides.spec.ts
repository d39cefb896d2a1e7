import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { format } from 'node:util'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { palimpsest } from './support.ts'

const guides = new URL('../../../../docs/guide/', import.meta.url)
/** Below the package, so that an example finds its imports as a reader's file does. */
const scratch = fileURLToPath(new URL(`../.cache/guides-${process.pid}/`, import.meta.url))
const home = process.cwd()

interface Block {
  readonly info: string
  readonly text: string
  /** `PAGE:LINE`, for the name of a test. */
  readonly place: string
}

interface Example {
  readonly place: string
  readonly file?: string
  readonly commands: readonly string[]
  /** Lines of output. `…` stands for any text, alone on its line for any lines. */
  readonly promised: readonly string[]
}

function blocksOf(page: string): Block[] {
  const text = readFileSync(new URL(page, guides), 'utf8')
  return [...text.matchAll(/^```(\w+)\n([^]*?)^```$/gm)].map((match) => ({
    info: match[1] ?? '',
    text: match[2] ?? '',
    place: `${page}:${text.slice(0, match.index).split('\n').length + 1}`,
  }))
}

/** Writes the programs of a page where they can be run, and says what each example prints. */
function examplesOf(page: string): Example[] {
  const blocks = blocksOf(page)
  return blocks.flatMap(({ info, text, place }, at): Example[] => {
    const next = blocks[at + 1]
    const shown = next?.info === 'text' ? next.text.trimEnd().split('\n') : undefined
    if (info === 'sh' && shown !== undefined) {
      const commands = text.split('\n').filter((line) => line.startsWith('palimpsest '))
      return [{ place, commands, promised: shown }]
    }
    if (info !== 'ts') return []
    const [, name = `${page.replace('.md', '')}-${at}.ts`, remark = ''] = /^\/\/ ([\w-]+\.ts)(.*)/.exec(text) ?? []
    writeFileSync(`${scratch}${name}`, text)
    if (remark.includes('not run')) return []
    const comments = [...text.matchAll(/console\.log\(.*\) \/\/ (.*)$/gm)].map(([, comment]) => comment ?? '')
    return [{ place, file: name, commands: [], promised: shown ?? comments }]
  })
}

async function printed({ file, commands }: Example): Promise<string[]> {
  const lines: string[] = []
  const log = vi.spyOn(console, 'log').mockImplementation((...values: unknown[]) => void lines.push(format(...values)))
  try {
    if (file !== undefined) await import(`${scratch}${file}`)
    for (const command of commands) {
      const { out, err } = await palimpsest(command.split(/ +/).slice(1))
      lines.push(out.trimEnd(), ...(err === '' ? [] : [err]))
    }
  } finally {
    log.mockRestore()
  }
  return lines.flatMap((line) => line.split('\n')).map((line) => line.trimEnd())
}

/** The promise where the output keeps it, else the output: a difference is then shown as one. */
function elided(lines: readonly string[], promised: readonly string[]): readonly string[] {
  const pattern = promised.map((line) => (line === '…' ? String.raw`(?:.*\n)*?` : `${patternOf(line)}\n`)).join('')
  return new RegExp(`^${pattern}$`).test(lines.map((line) => `${line}\n`).join('')) ? promised : lines
}

function patternOf(line: string): string {
  return line
    .split('…')
    .map((text) => text.replaceAll(/[\\^$.*+?()[\]{}|]/g, String.raw`\$&`))
    .join('.*')
}

/** Each page may go on from what the ones before it stored. */
const pages = ['getting-started.md', 'broken-session.md', 'agent-loop.md', 'compaction.md', 'writing-a-plugin.md']
mkdirSync(scratch, { recursive: true })
const examples = pages.flatMap(examplesOf)

describe('the guides', () => {
  beforeAll(() => process.chdir(scratch))
  afterAll(() => {
    process.chdir(home)
    rmSync(scratch, { recursive: true, force: true })
  })

  it.each(examples)('print what they say that they print: $place', async (example) => {
    const lines = await printed(example)
    expect(elided(lines, example.promised)).toEqual(example.promised)
  })
})
