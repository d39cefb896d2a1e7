import { randomUUID } from 'node:crypto'
import type { FileSystem } from './file-system.ts'
import { liveness, thisProcess, type ProcessIdentity } from './host.ts'
import { codeOf, readRange, temporaryName, tidy, withFile, writeWhole } from './io.ts'

/** What `session.owner` says. A kernel claim writes it to be named by; a lease is nothing else. SPEC 5.2. */
export interface Owner extends ProcessIdentity {
  readonly kind: 'kernel' | 'lease'
  /** Unix epoch, milliseconds. */
  readonly since: number
  /** Tells two claims of one process apart. */
  readonly token: string
  /** Of a lease: until when it holds unless it is renewed. Unix epoch, milliseconds. */
  readonly until?: number
}

/** An owner file's content for this process, from now on. */
export function ownerFor(kind: Owner['kind'], until?: number): Owner {
  return { ...thisProcess(), kind, since: Date.now(), token: randomUUID(), ...(until === undefined ? {} : { until }) }
}

function isOwner(value: unknown): value is Owner {
  if (typeof value !== 'object' || value === null) return false
  const { kind, pid, host, since, token } = value as Record<keyof Owner, unknown>
  return (
    (kind === 'kernel' || kind === 'lease') &&
    Number.isSafeInteger(pid) &&
    typeof host === 'string' &&
    typeof since === 'number' &&
    typeof token === 'string'
  )
}

/** The owner file; undefined where there is none, or none that can be understood. */
export async function readOwner(fs: FileSystem, path: string): Promise<Owner | undefined> {
  try {
    const text = await withFile(await fs.open(path, 'read'), async (file) =>
      (await readRange(file, 0, 4096)).toString('utf8'),
    )
    const value: unknown = JSON.parse(text)
    return isOwner(value) ? value : undefined
  } catch (error) {
    if (error instanceof SyntaxError || ['ENOENT', 'ENOTDIR', 'ELOOP'].includes(codeOf(error) ?? '')) return undefined
    throw error
  }
}

/** Puts the owner's text under a temporary name. */
export async function writeOwnerAside(fs: FileSystem, path: string, owner: Owner): Promise<string> {
  const aside = temporaryName(path)
  try {
    await withFile(await fs.open(aside, 'create'), (file) =>
      writeWhole(file, Buffer.from(`${JSON.stringify(owner)}\n`), 0),
    )
  } catch (error) {
    await tidy(fs, aside)
    throw error
  }
  return aside
}

/** Writes the owner file in one step, over any other. It need not survive a power loss, since no claim does. */
export async function writeOwner(fs: FileSystem, path: string, owner: Owner): Promise<void> {
  const aside = await writeOwnerAside(fs, path, owner)
  try {
    await fs.rename(aside, path)
  } catch (error) {
    await tidy(fs, aside)
    throw error
  }
}

/**
 * Whether a claim still holds, as far as its owner file tells. Of a kernel claim on another host nothing is known: it
 * passes for held.
 */
export function isHeld(owner: Owner, self: ProcessIdentity, now: number): boolean {
  const life = liveness(owner, self)
  if (life === 'dead') return false
  return owner.kind === 'kernel' || (owner.until ?? 0) > now
}
