/** Slot keys and their directories: pure, on paths relative to the root with forward slashes. The root itself is `''`. */

/** The directories from the root down to `directory`, both included. */
export function directoriesTo(directory: string): readonly string[] {
  if (directory === '') return ['']
  const segments = directory.split('/')
  return ['', ...segments.map((_, index) => segments.slice(0, index + 1).join('/'))]
}

export function directoryOf(path: string): string {
  const slash = path.lastIndexOf('/')
  return slash === -1 ? '' : path.slice(0, slash)
}

export function inDirectory(directory: string, name: string): string {
  return directory === '' ? name : `${directory}/${name}`
}

/** Whether `path` names an instruction file below the root. What a foreign log says is held to this before any read. */
export function isInstructionPath(path: string, fileNames: readonly string[]): boolean {
  const segments = path.split('/')
  return (
    segments.every((segment) => segment !== '' && segment !== '.' && segment !== '..' && !segment.includes('\0')) &&
    fileNames.includes(segments.at(-1) ?? '')
  )
}

/** Orders by how specific a file is, the least first: by depth, then directory, then place in `fileNames`. */
export function bySpecificity(fileNames: readonly string[]): (a: string, b: string) => number {
  return (a, b) => {
    const [left, right] = [directoryOf(a), directoryOf(b)]
    const depth = directoriesTo(left).length - directoriesTo(right).length
    if (depth !== 0) return depth
    if (left !== right) return left < right ? -1 : 1
    return place(fileNames, a) - place(fileNames, b) || (a < b ? -1 : Number(a > b))
  }
}

function place(fileNames: readonly string[], path: string): number {
  return fileNames.indexOf(path.slice(path.lastIndexOf('/') + 1))
}
