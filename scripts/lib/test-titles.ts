import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import ts from 'typescript'
import { entryPoints, workspacePackages } from './workspace.ts'

/** One test that a spec file declares, by itself or through a module that it imports. */
export interface TestTitle {
  /** The titles around it, then its own. What only a run can fill in is `…`. */
  readonly path: readonly string[]
  /** Skipped always or under a condition, or only planned. */
  readonly mayBeSkipped: boolean
}

const declaring = new Set(['describe', 'it', 'test'])
const skipping = new Set(['skip', 'skipIf', 'runIf', 'todo'])

/** What `it`, `describe.skipIf(…)`, `test.each(…)` and the like declare; undefined for any other callee. */
function declarationOf(callee: ts.Expression): { isGroup: boolean; mayBeSkipped: boolean } | undefined {
  let mayBeSkipped = false
  let at = callee
  while (!ts.isIdentifier(at)) {
    if (ts.isPropertyAccessExpression(at)) mayBeSkipped ||= skipping.has(at.name.text)
    else if (!ts.isCallExpression(at)) return undefined
    at = at.expression
  }
  return declaring.has(at.text) ? { isGroup: at.text === 'describe', mayBeSkipped } : undefined
}

function textOf(node: ts.Node | undefined): string | undefined {
  if (node === undefined) return undefined
  if (ts.isStringLiteralLike(node)) return node.text
  if (!ts.isTemplateExpression(node)) return undefined
  return node.head.text + node.templateSpans.map(({ literal }) => `…${literal.text}`).join('')
}

/** A key in quotes: what a record of laws names the tests that are made from it by. */
function keyOf(node: ts.Node): string | undefined {
  return ts.isPropertyAssignment(node) && ts.isStringLiteral(node.name) ? node.name.text : undefined
}

interface TestModule {
  readonly text: string
  readonly titles: readonly TestTitle[]
  readonly keys: readonly string[]
  readonly imports: readonly string[]
  readonly knowsVitest: boolean
}

function parse(file: string): TestModule {
  const text = readFileSync(file, 'utf8')
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true)
  const titles: TestTitle[] = []
  const keys: string[] = []
  const visit = (node: ts.Node, path: readonly string[], mayBeSkipped: boolean): void => {
    const key = keyOf(node)
    if (key !== undefined) keys.push(key)
    const declared = ts.isCallExpression(node) ? declarationOf(node.expression) : undefined
    const title = ts.isCallExpression(node) ? textOf(node.arguments[0]) : undefined
    if (declared === undefined || title === undefined) {
      ts.forEachChild(node, (child) => visit(child, path, mayBeSkipped))
      return
    }
    const below = [...path, title]
    const isSkipped = mayBeSkipped || declared.mayBeSkipped
    if (!declared.isGroup) titles.push({ path: below, mayBeSkipped: isSkipped })
    ts.forEachChild(node, (child) => visit(child, below, isSkipped))
  }
  visit(source, [], false)
  const imports = source.statements.flatMap((statement) =>
    ts.isImportDeclaration(statement) && ts.isStringLiteral(statement.moduleSpecifier)
      ? [statement.moduleSpecifier.text]
      : [],
  )
  return { text, titles, keys, imports, knowsVitest: imports.includes('vitest') }
}

/** Reads the titles of spec files; each module is parsed once. */
export class TestTitles {
  readonly #modules = new Map<string, TestModule>()
  readonly #entries = new Map(workspacePackages().flatMap((one) => [...entryPoints(one)]))

  /** Every test that runs when `file` (an absolute path of a spec) runs. Throws when there is no such file. */
  of(file: string): readonly TestTitle[] {
    const modules = this.#reached(file)
    const titles = modules.flatMap((module) => module.titles)
    const each = titles.find(({ path }) => path.at(-1) === '%s')
    if (each === undefined) return titles
    const keys = modules.flatMap((module) => module.keys)
    return [...titles, ...keys.map((key) => ({ ...each, path: [...each.path.slice(0, -1), key] }))]
  }

  /** The text of a spec and of the modules that its tests may stand in. */
  textsOf(file: string): readonly string[] {
    return this.#reached(file).map(({ text }) => text)
  }

  #reached(file: string): readonly TestModule[] {
    const reached = new Set([file])
    for (const path of reached) {
      for (const specifier of this.#module(path).imports) {
        const target = specifier.startsWith('.') ? join(dirname(path), specifier) : this.#entries.get(specifier)
        if (target !== undefined && existsSync(target) && this.#mayDeclare(target)) reached.add(target)
      }
    }
    return [...reached].map((path) => this.#module(path))
  }

  #mayDeclare(file: string): boolean {
    return file.includes('/tests/') || this.#module(file).knowsVitest
  }

  #module(file: string): TestModule {
    const known = this.#modules.get(file)
    if (known !== undefined) return known
    const module = parse(file)
    this.#modules.set(file, module)
    return module
  }
}

/** Whether a test is the one that is meant by the begin of its title: its own, or that of a group around it. */
export function isTitled(test: TestTitle, begin: string): boolean {
  return test.path.some((_, at) => test.path.slice(at).join(' > ').startsWith(begin))
}
