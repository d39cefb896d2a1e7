/** Holds the arrows of the architecture: who may import whom, by what path, and what the kernel may not import at all. */
import { readFileSync } from 'node:fs'
import { builtinModules } from 'node:module'
import { dirname, join, resolve, sep } from 'node:path'
import ts from 'typescript'
import { report } from './lib/report.ts'
import { entryPoints, filesBelow, repoRoot, shown, workspacePackages, type WorkspacePackage } from './lib/workspace.ts'

/** What the sources of a package may import: places (`core/session`) or whole areas (`session`), the most exact key wins. */
const arrows: Record<string, readonly string[]> = {
  'core/session': [],
  'core/agent-loop': ['core/session'],
  'testing/testkit': ['core/session'],
  session: ['core/session', 'session/session-format', 'session/session-persistence'],
  'session/session-persistence': ['core/session'],
  'session/session-format': ['core/session'],
  compact: ['core/session', 'session', 'compact'],
  context: ['core/session', 'session'],
  interop: ['core/session', 'session', 'compact', 'context', 'interop'],
  tools: ['core', 'session', 'compact', 'context', 'interop', 'tools'],
}

/** Concrete stores: only tools may choose one. */
const backend = /^session\/session-persistence-/

const packages = workspacePackages()
const byName = new Map(packages.map((one) => [one.name, one]))
const builtins = new Set(builtinModules)

interface Import {
  specifier: string
  line: number
}

function importsOf(source: string): Import[] {
  return ts
    .preProcessFile(source, true, true)
    .importedFiles.map(({ fileName, pos }) => ({ specifier: fileName, line: source.slice(0, pos).split('\n').length }))
}

function packageNameOf(specifier: string): string {
  return specifier.split('/', specifier.startsWith('@') ? 2 : 1).join('/')
}

function mayImport(from: WorkspacePackage, to: WorkspacePackage): boolean {
  const area = from.place.split('/', 1).join('')
  const allowed = arrows[from.place] ?? arrows[area]
  if (backend.test(to.place) && area !== 'tools') return false
  return allowed?.some((place) => to.place === place || to.place.startsWith(`${place}/`)) ?? false
}

function sourceFault(from: WorkspacePackage, specifier: string, to: WorkspacePackage | undefined): string | undefined {
  const isBuiltin = specifier.startsWith('node:') || builtins.has(specifier)
  if (from.place === 'core/session' && packageNameOf(specifier) !== 'zod') {
    return 'the kernel imports zod and nothing else, so that it runs in a browser'
  }
  if (isBuiltin && /^(node:)?readline(\/|$)/.test(specifier)) {
    return 'readline splits lines on U+2028 and lone CR: frame on byte 0x0A'
  }
  if (to === undefined) return undefined
  if (!mayImport(from, to))
    return `${from.place} may not import ${to.place}: arrows point one way (ARCHITECTURE, Arrows)`
  if (from.manifest.dependencies?.[to.name] === undefined && from.manifest.peerDependencies?.[to.name] === undefined) {
    return `${to.name} is not among the dependencies of ${from.name}: list it in package.json`
  }
  return undefined
}

function testFault(from: WorkspacePackage, to: WorkspacePackage | undefined): string | undefined {
  const { dependencies, devDependencies } = from.manifest
  if (to === undefined || to === from || (dependencies?.[to.name] ?? devDependencies?.[to.name]) !== undefined)
    return undefined
  return `${to.name} is not among the dependencies of ${from.name}: list it in devDependencies`
}

function faultOf(from: WorkspacePackage, file: string, specifier: string): string | undefined {
  const isSource = file.startsWith(join(from.root, 'src') + sep)
  if (specifier.startsWith('.') || specifier.startsWith('/')) {
    const home = isSource ? join(from.root, 'src') : from.root
    const target = resolve(dirname(file), specifier)
    // A package may read its own version, and its build is that of all packages.
    const isShared = file === join(from.root, 'tsup.config.ts') && target === join(repoRoot, 'scripts/tsup-package.ts')
    const isInside = target.startsWith(home + sep) || target === join(from.root, 'package.json') || isShared
    return isInside ? undefined : `the path leaves ${shown(home)}: reach another package by its name`
  }
  const to = byName.get(packageNameOf(specifier))
  if (to !== undefined && !entryPoints(to).has(specifier))
    return `${to.name} does not export ${specifier}: add it to its exports or do without`
  return isSource ? sourceFault(from, specifier, to) : testFault(from, to)
}

/** Runtime dependencies among our packages form no circle. Dev dependencies may: they are of tests. */
function circles(): string[] {
  const faults: string[] = []
  const done = new Set<WorkspacePackage>()
  const visit = (one: WorkspacePackage, path: readonly WorkspacePackage[]): void => {
    if (path.includes(one)) {
      faults.push(
        `packages form a circle: ${[...path.slice(path.indexOf(one)), one].map(({ name }) => name).join(' → ')}`,
      )
      return
    }
    if (done.has(one)) return
    for (const name of Object.keys({ ...one.manifest.dependencies, ...one.manifest.peerDependencies })) {
      const next = byName.get(name)
      if (next !== undefined) visit(next, [...path, one])
    }
    done.add(one)
  }
  for (const one of packages) visit(one, [])
  return faults
}

const faults = circles()
let count = 0
for (const one of packages) {
  if ('@palimpsest/testkit' in { ...one.manifest.dependencies, ...one.manifest.peerDependencies }) {
    faults.push(`${one.place}: @palimpsest/testkit is a dev dependency only`)
  }
  for (const file of filesBelow(one.root, /\.[cm]?tsx?$/)) {
    count += 1
    for (const { specifier, line } of importsOf(readFileSync(file, 'utf8'))) {
      const fault = faultOf(one, file, specifier)
      if (fault !== undefined) faults.push(`${shown(file)}:${line} imports '${specifier}': ${fault}`)
    }
  }
}
report('imports', faults, `${count} files in ${packages.length} packages`)
