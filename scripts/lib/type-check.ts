import { dirname, join } from 'node:path'
import ts from 'typescript'
import { entryPoints, repoRoot, workspacePackages } from './workspace.ts'

/** A file of TypeScript that is only in memory. */
export interface VirtualFile {
  /** Absolute path that its imports are resolved from. */
  path: string
  text: string
  /** Where the text really stands: the page, and how many lines above the text. */
  page: string
  lineOffset: number
}

/** Our packages, by name, on their sources: pages anywhere in the repository may import them. */
function sourcePaths(): Record<string, string[]> {
  const entries = workspacePackages().flatMap((one) => [...entryPoints(one)])
  return Object.fromEntries(
    entries.flatMap(([specifier, source]) => (source === undefined ? [] : [[specifier, [source]]])),
  )
}

function compilerOptions(): ts.CompilerOptions {
  const file = join(repoRoot, 'tsconfig.json')
  const { config } = ts.readConfigFile(file, (path) => ts.sys.readFile(path)) as { config: unknown }
  const { options } = ts.parseJsonConfigFileContent(config, ts.sys, repoRoot, {}, file)
  return { ...options, paths: sourcePaths(), noUnusedLocals: false, noUnusedParameters: false }
}

/** A program over virtual files and what they import from disk. */
export function virtualProgram(files: readonly VirtualFile[]): ts.Program {
  const options = compilerOptions()
  const texts = new Map(files.map(({ path, text }) => [path, text]))
  const directories = new Set(files.map(({ path }) => dirname(path)))
  const onDisk = ts.createCompilerHost(options, true)
  const host: ts.CompilerHost = {
    ...onDisk,
    fileExists: (path) => texts.has(path) || onDisk.fileExists(path),
    readFile: (path) => texts.get(path) ?? onDisk.readFile(path),
    directoryExists: (path) => directories.has(path) || ts.sys.directoryExists(path),
    getSourceFile: (path, version, ...rest) => {
      const text = texts.get(path)
      return text === undefined
        ? onDisk.getSourceFile(path, version, ...rest)
        : ts.createSourceFile(path, text, version, true)
    },
  }
  return ts.createProgram({ rootNames: [...texts.keys()], options, host })
}

export interface Complaint {
  /** 1-based line in the virtual file. */
  line: number
  /** With the page and its line in front. */
  message: string
}

/** What the compiler says about one virtual file. */
export function complaintsAbout(program: ts.Program, file: VirtualFile): Complaint[] {
  const source = program.getSourceFile(file.path)
  if (source === undefined) throw new Error(`${file.page} was not compiled`)
  return [...program.getSyntacticDiagnostics(source), ...program.getSemanticDiagnostics(source)].map((diagnostic) => {
    const line = source.getLineAndCharacterOfPosition(diagnostic.start ?? 0).line + 1
    const text = ts.flattenDiagnosticMessageText(diagnostic.messageText, '\n')
    return { line, message: `${file.page}:${line + file.lineOffset} ${text}` }
  })
}
