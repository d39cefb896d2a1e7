import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join, relative, sep } from 'node:path'
import { fileURLToPath } from 'node:url'

export const repoRoot: string = fileURLToPath(new URL('../..', import.meta.url))

export interface PackageManifest {
  name: string
  private?: boolean
  exports?: Record<string, string | Record<string, string>>
  bin?: unknown
  dependencies?: Record<string, string>
  peerDependencies?: Record<string, string>
  optionalDependencies?: Record<string, string>
  devDependencies?: Record<string, string>
}

export interface WorkspacePackage {
  name: string
  /** Place below `packages/`, as in ARCHITECTURE: `core/session`. */
  place: string
  /** Absolute path. */
  root: string
  manifest: PackageManifest
}

/** What a package exports: its specifiers (`@palimpsest/session`), each with the source file behind it where there is one. */
export function entryPoints({ name, root, manifest }: WorkspacePackage): ReadonlyMap<string, string | undefined> {
  const entries = Object.entries(manifest.exports ?? {}).map(([subpath, target]): [string, string | undefined] => {
    const source = typeof target === 'string' ? target : target['@palimpsest/source']
    return [name + subpath.slice(1), source === undefined ? undefined : join(root, source)]
  })
  return new Map(entries)
}

/** Every package of the workspace, by place. */
export function workspacePackages(): WorkspacePackage[] {
  const packages = join(repoRoot, 'packages')
  return readdirSync(packages)
    .flatMap((area) => readdirSync(join(packages, area)).map((folder) => `${area}/${folder}`))
    .filter((place) => existsSync(join(packages, place, 'package.json')))
    .toSorted()
    .map((place) => {
      const root = join(packages, place)
      const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as PackageManifest
      return { name: manifest.name, place, root, manifest }
    })
}

const skipped = new Set(['node_modules', 'dist', 'coverage', '.git'])

/** Absolute paths of the files below `directory` whose name matches, in a stable order; none when it does not exist. */
export function filesBelow(directory: string, name: RegExp): string[] {
  if (!existsSync(directory)) return []
  return readdirSync(directory, { withFileTypes: true })
    .toSorted((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap((entry) => {
      const path = join(directory, entry.name)
      if (entry.isDirectory()) return skipped.has(entry.name) ? [] : filesBelow(path, name)
      return name.test(entry.name) ? [path] : []
    })
}

/** A path as people and records write it: relative to the repository, with `/`. */
export function shown(path: string): string {
  return relative(repoRoot, path).split(sep).join('/')
}
