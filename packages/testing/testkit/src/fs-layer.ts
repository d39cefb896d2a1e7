/** One call that passes through a layer: on the file system itself, or on a file that it opened. */
export interface FileSystemCall {
  /** Name of the method: `open`, `link`, … on the file system; `write`, `datasync`, … on an open file. */
  readonly operation: string
  /** What the call names: its first argument, or the path that the file was opened by. */
  readonly path: string
  /** The second path of `link` and `rename`. */
  readonly target?: string
  readonly args: readonly unknown[]
  /** The open file that the call is made on, the same object for each of its calls. */
  readonly file?: object
}

/** Sees a call before it happens; `proceed` makes it, with other arguments when some are given. */
export type FileSystemHook = (
  call: FileSystemCall,
  proceed: (args?: readonly unknown[]) => Promise<unknown>,
) => Promise<unknown>

type Method = (...args: readonly unknown[]) => Promise<unknown>

function describe(
  operation: string,
  args: readonly unknown[],
  opened: string | undefined,
  file: object,
): FileSystemCall {
  if (opened !== undefined) return { operation, path: opened, args, file }
  const [path, target] = args
  // The second argument of `open` is a mode, not a path.
  const hasTarget = typeof target === 'string' && operation !== 'open'
  return { operation, path: String(path), args, ...(hasTarget ? { target } : {}) }
}

function wrap<Port extends object>(port: Port, hook: FileSystemHook, opened?: string): Port {
  return new Proxy(port, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name, target)
      if (typeof member !== 'function' || typeof name !== 'string') return member
      return (...args: readonly unknown[]): Promise<unknown> => {
        const call = describe(name, args, opened, target)
        const proceed = (given: readonly unknown[] = args): Promise<unknown> =>
          Reflect.apply(member as Method, target, given)
        const made = hook(call, proceed)
        if (name !== 'open' || opened !== undefined) return made
        return made.then((file) => wrap(file as object, hook, call.path))
      }
    },
  })
}

/**
 * Puts `hook` under every call of a file system port and of the files that it opens. The port is any object of
 * promise-returning methods whose first argument is a path and whose `open` resolves to an object of such methods.
 */
export function layerFileSystem<Port extends object>(base: Port, hook: FileSystemHook): Port {
  return wrap(base, hook)
}

/** A file system that notes each call before it makes it. */
export function spyFileSystem<Port extends object>(
  base: Port,
): { readonly fileSystem: Port; readonly calls: FileSystemCall[] } {
  const calls: FileSystemCall[] = []
  const fileSystem = layerFileSystem(base, (call, proceed) => {
    calls.push(call)
    return proceed()
  })
  return { fileSystem, calls }
}
