/**
 * Proves that the types written out in `docs/core-data-structures/` are the exported ones, by the compiler's own identity of types:
 * a member more, a `readonly` less, a wider union all count. `type-equiv.manifest.json` lists page, module and names;
 * a name on a page that the manifest lacks is a fault too. References inside a declaration mean the exported types, of the
 * page's own module or else of the kernel.
 */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import ts from 'typescript'
import { codeBlocks } from './lib/markdown.ts'
import { report } from './lib/report.ts'
import { shapesIn, type Shape } from './lib/shapes.ts'
import { complaintsAbout, virtualProgram, type VirtualFile } from './lib/type-check.ts'
import { filesBelow, repoRoot, shown } from './lib/workspace.ts'

const kernel = '@palimpsest/session'

interface PageEntry {
  module: string
  names: string[]
}

interface Page {
  page: string
  module: string
  shapes: Shape[]
  /** The page with every line blank that is not in a block of shapes, and every declared `Name` as `Name$doc`. */
  text: string
}

const manifest = JSON.parse(readFileSync(join(repoRoot, 'scripts/type-equiv.manifest.json'), 'utf8')) as Record<
  string,
  PageEntry
>
const faults: string[] = []

const preamble = `
type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false
type Public<T> = Pick<T, keyof T>
type Static<T> = Pick<T, Exclude<keyof T, 'prototype'>>
type Parameters_<T> = T extends abstract new (...given: infer Given) => unknown ? Given : 'not constructible'
`.replaceAll('\n', ';')

function readPage(page: string, { module, names }: PageEntry): Page {
  const lines: string[] = []
  const shapes: Shape[] = []
  for (const { info, text, line } of codeBlocks(readFileSync(join(repoRoot, page), 'utf8'))) {
    const found = info === 'ts' ? shapesIn(text) : undefined
    if (found === undefined) continue
    shapes.push(...found)
    let marked = text
    for (const { name, nameStart } of found.toReversed()) {
      marked = `${marked.slice(0, nameStart)}${name}$doc${marked.slice(nameStart + name.length)}`
    }
    while (lines.length < line - 1) lines.push('')
    lines.push(...marked.trimEnd().split('\n'))
  }
  const declared = new Set(shapes.map(({ name }) => name))
  for (const name of names)
    if (!declared.has(name)) faults.push(`${page}: ${name} is in the manifest and not on the page`)
  for (const name of declared)
    if (!names.includes(name)) faults.push(`${page}: ${name} is not in scripts/type-equiv.manifest.json`)
  return { page, module, shapes, text: lines.join('\n') }
}

/** The comparisons that must hold for one declaration, as types that are `true`. */
function comparisons({ name, kind, typeParameters }: Shape): [ours: string, exported: string][] {
  if (kind === 'value') return [[`typeof ${name}$doc`, `typeof ${name}`]]
  if (kind === 'class') {
    const sides = (wrap: string, of: string): [string, string] => [`${wrap}<${of}${name}$doc>`, `${wrap}<${of}${name}>`]
    return [sides('Public', ''), sides('Static', 'typeof '), sides('Parameters_', 'typeof ')]
  }
  if (typeParameters.length === 0) return [[`${name}$doc`, name]]
  const head = `<${typeParameters.map(({ text }) => text).join(', ')}>() => `
  const given = `<${typeParameters.map((one) => one.name).join(', ')}>`
  return [[`${head}${name}$doc${given}`, `${head}${name}${given}`]]
}

function exportsByModule(pages: readonly Page[]): Map<string, string[]> {
  const modules = [...new Set([kernel, ...pages.map(({ module }) => module)])]
  const text = modules
    .map((module, index) => `import type * as m${index} from '${module}'\nexport type { m${index} }\n`)
    .join('')
  const path = join(repoRoot, 'docs/modules.ts')
  const program = virtualProgram([{ path, text, page: 'manifest', lineOffset: 0 }])
  const checker = program.getTypeChecker()
  const names = new Map<string, string[]>()
  for (const statement of program.getSourceFile(path)?.statements ?? []) {
    if (!ts.isImportDeclaration(statement) || !ts.isStringLiteral(statement.moduleSpecifier)) continue
    const symbol = checker.getSymbolAtLocation(statement.moduleSpecifier)
    if (symbol === undefined)
      throw new Error(`the manifest names the module ${statement.moduleSpecifier.text}, which does not exist`)
    names.set(
      statement.moduleSpecifier.text,
      checker.getExportsOfModule(symbol).map(({ name }) => name),
    )
  }
  return names
}

function prove(pages: readonly Page[]): void {
  const exported = exportsByModule(pages)
  const checks = pages.map((page) => {
    const names = exported.get(page.module) ?? []
    const missing = page.shapes.filter(({ name }) => !names.includes(name))
    faults.push(...missing.map(({ name }) => `${page.page}: ${page.module} does not export ${name}`))
    const shapes = page.shapes.filter(({ name }) => names.includes(name))
    const firstCheck = page.text.split('\n').length + 1
    const pairs = shapes.flatMap((shape) =>
      comparisons(shape).map(([ours, theirs]) => ({ name: shape.name, ours, theirs })),
    )
    const others = (exported.get(kernel) ?? []).filter((name) => !names.includes(name))
    const head = `import type { ${names.join(', ')} } from '${page.module}';import type { ${others.join(', ')} } from '${kernel}';${preamble}`
    const tail = pairs.map(({ ours, theirs }) => `;{ const same: Same<${ours}, ${theirs}> = true }`)
    const path = join(repoRoot, `${page.page}.ts`)
    const text = [head + page.text, ...tail, ''].join('\n')
    return { file: { path, text, page: page.page, lineOffset: 0 } satisfies VirtualFile, firstCheck, pairs }
  })
  const program = virtualProgram(checks.map(({ file }) => file))
  for (const { file, firstCheck, pairs } of checks) {
    for (const { line, message } of complaintsAbout(program, file)) {
      const pair = pairs[line - firstCheck]
      if (pair === undefined) faults.push(message)
      else faults.push(`${file.page}: ${pair.name} is not the exported type (${pair.ours} and ${pair.theirs} differ)`)
    }
  }
}

const pages = Object.entries(manifest)
  .filter(
    ([page]) => existsSync(join(repoRoot, page)) || faults.push(`${page} is in the manifest and does not exist`) === 0,
  )
  .map(([page, entry]) => readPage(page, entry))
for (const page of filesBelow(join(repoRoot, 'docs/core-data-structures'), /\.md$/).map(shown)) {
  if (manifest[page] === undefined && manifest[page.replace(/\.zh\.md$/, '.md')] === undefined) {
    faults.push(`${page} is not in scripts/type-equiv.manifest.json`)
  }
}
if (pages.length > 0) prove(pages)
report(
  'documented types',
  faults,
  `${pages.flatMap(({ shapes }) => shapes).length} declarations on ${pages.length} page(s)`,
)
