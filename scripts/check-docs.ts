/**
 * Compiles every TypeScript example of `docs/` and the READMEs, each block by itself, as a user's module would be. A block
 * whose first line is `// NAME.ts` is the file that other blocks of the guides import under that name.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { codeBlocks } from './lib/markdown.ts'
import { report } from './lib/report.ts'
import { shapesIn } from './lib/shapes.ts'
import { complaintsAbout, virtualProgram, type VirtualFile } from './lib/type-check.ts'
import { filesBelow, repoRoot, shown, workspacePackages } from './lib/workspace.ts'

/** Their shapes are compared with the exported types instead, by `type-equiv.ts`. */
const proven = join(repoRoot, 'docs/core-data-structures')

/** Where the guides tell their readers to save what they show. */
const guideFiles = join(repoRoot, 'packages/tools/cli/guide')

function pathOf(page: string, text: string, line: number): string {
  const name = /^\/\/ ([\w-]+\.ts)\b/.exec(text)?.[1]
  return name === undefined ? `${page}.${line}.ts` : join(guideFiles, name)
}

function examples(page: string): VirtualFile[] {
  return codeBlocks(readFileSync(page, 'utf8'))
    .filter(({ info, text }) => info === 'ts' && !(page.startsWith(proven) && shapesIn(text) !== undefined))
    .map(({ text, line }) => {
      const isModule = /^(import|export) /m.test(text)
      return {
        path: pathOf(page, text, line),
        text: isModule ? text : `${text}export {}\n`,
        page: shown(page),
        lineOffset: line - 1,
      }
    })
}

const roots = workspacePackages().map(({ root }) => root)
const readmes = [
  ...roots.flatMap((root) => filesBelow(root, /^README(\.zh)?\.md$/)),
  ...['README.md', 'README.zh.md'].map((name) => join(repoRoot, name)),
]
const pages = [...filesBelow(join(repoRoot, 'docs'), /\.md$/), ...readmes].filter((page) =>
  filesBelow(join(page, '..'), /\.md$/).includes(page),
)
const files = pages.flatMap(examples)
const program = virtualProgram(files)
const taken = files.filter(({ path }, at) => files.findIndex((other) => other.path === path) < at)
const faults = [
  ...taken.map(({ page, path }) => `${page}: another block is ${shown(path)} already`),
  ...files.flatMap((file) => complaintsAbout(program, file).map(({ message }) => message)),
]
report('examples in pages', faults, `${files.length} block(s) on ${pages.length} page(s)`)
