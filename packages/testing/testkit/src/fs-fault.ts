import { layerFileSystem, type FileSystemCall } from './fs-layer.ts'

/** What goes wrong, and where. */
export interface Fault {
  /** Which calls it strikes: a name of a method, or several. */
  readonly operation: string | readonly string[]
  /** Narrows the fault to some paths; all without it. */
  readonly path?: (path: string) => boolean
  /** Calls that match and still succeed before it strikes. Default 0. */
  readonly after?: number
  /** How many calls it strikes; until it is healed without it. */
  readonly times?: number
  /** Error code of the rejection, such as `ENOSPC`. Without one the call resolves, so `bytes` must be given. */
  readonly code?: string
  /** For `write`: how many of the bytes reach the file, before the rejection where there is a `code`. */
  readonly bytes?: number
  /** Whether the call is made before it is said to have failed: a sync that reached the disk, a link that was made. */
  readonly happens?: boolean
}

/** One fault at work. */
export interface ActiveFault {
  /** Calls it struck so far. */
  readonly struck: number
  /** Takes it away; later calls pass. */
  heal(): void
}

/** A file system that fails on demand. */
export interface FaultFileSystem<Port extends object> {
  readonly fileSystem: Port
  inject(fault: Fault): ActiveFault
}

/** An error as `node:fs` makes them. */
function fileSystemError(code: string, call: FileSystemCall): Error {
  const error = new Error(`${code}: injected fault, ${call.operation} '${call.path}'`)
  return Object.assign(error, { code, syscall: call.operation, path: call.path })
}

class Injected implements ActiveFault {
  readonly fault: Fault
  #passed = 0
  #healed = false
  struck = 0

  constructor(fault: Fault) {
    if (fault.code === undefined && fault.bytes === undefined)
      throw new TypeError('a fault has a code, a number of bytes, or both')
    this.fault = fault
  }

  strikes(call: FileSystemCall): boolean {
    const { operation, path, after = 0, times = Infinity } = this.fault
    if (this.#healed || ![operation].flat().includes(call.operation) || path?.(call.path) === false) return false
    if (this.#passed < after) {
      this.#passed += 1
      return false
    }
    if (this.struck >= times) return false
    this.struck += 1
    return true
  }

  heal(): void {
    this.#healed = true
  }
}

async function fail(
  fault: Fault,
  call: FileSystemCall,
  proceed: (args?: readonly unknown[]) => Promise<unknown>,
): Promise<unknown> {
  const [buffer, offset, length, position] = call.args
  const partial = fault.bytes === undefined ? undefined : Math.min(fault.bytes, Number(length))
  if (partial !== undefined && partial > 0) await proceed([buffer, offset, partial, position])
  if (fault.happens === true) await proceed()
  if (fault.code === undefined) return partial
  throw fileSystemError(fault.code, call)
}

/** Puts faults under a store: disk full, refused syncs, short writes; each stays until it is healed or used up. */
export function faultFileSystem<Port extends object>(base: Port): FaultFileSystem<Port> {
  const faults: Injected[] = []
  const fileSystem = layerFileSystem(base, (call, proceed) => {
    const struck = faults.find((fault) => fault.strikes(call))
    return struck === undefined ? proceed() : fail(struck.fault, call, proceed)
  })
  return {
    fileSystem,
    inject(fault) {
      const injected = new Injected(fault)
      faults.push(injected)
      return injected
    },
  }
}
