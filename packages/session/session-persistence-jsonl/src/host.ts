import { readFileSync } from 'node:fs'
import { hostname } from 'node:os'

/** One process on one machine since one boot. */
export interface ProcessIdentity {
  readonly pid: number
  readonly host: string
  /** Changes with every boot; absent where the platform does not tell. */
  readonly boot?: string
}

function bootId(): string | undefined {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()
  } catch {
    return undefined
  }
}

/** Who this process is. */
export function thisProcess(): ProcessIdentity {
  const boot = bootId()
  return { pid: process.pid, host: hostname(), ...(boot === undefined ? {} : { boot }) }
}

/**
 * Whether a process still runs: `unknown` on another host. A pid that was given to a new process passes for the old
 * one.
 */
export function liveness(other: ProcessIdentity, self: ProcessIdentity): 'alive' | 'dead' | 'unknown' {
  if (other.host !== self.host) return 'unknown'
  if (other.boot !== self.boot) return 'dead'
  try {
    process.kill(other.pid, 0)
    return 'alive'
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ESRCH' ? 'dead' : 'alive'
  }
}
