import type { SessionId } from '@palimpsest/session'
import { SessionConflictError, SessionLockedError } from '@palimpsest/session-persistence'
import type { FileSystem } from './file-system.ts'
import { thisProcess } from './host.ts'
import { codeOf, temporaryName, tidy } from './io.ts'
import { isHeld, ownerFor, readOwner, writeOwner, writeOwnerAside, type Owner } from './owner.ts'

/** The right to write one session. */
export interface Claim {
  /** Throws `SessionConflictError` when the claim was lost. Called before every write. SPEC 5.2. */
  verify(): Promise<void>
  release(): Promise<void>
}

/** Where a claim is taken: in the session's own directory. */
export interface ClaimPlace {
  readonly fs: FileSystem
  readonly root: string
  readonly directory: string
  readonly id: SessionId
  /** Milliseconds for which a lease holds without being renewed. */
  readonly leaseMs: number
}

/** Takes away an owner file whose lease lapsed. One of several that try succeeds, unless a new owner came meanwhile. */
async function removeLapsed(place: ClaimPlace, path: string, lapsed: Owner | undefined): Promise<void> {
  const { fs } = place
  const aside = temporaryName(path)
  try {
    await fs.rename(path, aside)
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return
    throw error
  }
  const taken = await readOwner(fs, aside)
  // Somebody was faster and holds a fresh lease: give its file back.
  if (taken !== undefined && taken.token !== lapsed?.token) await fs.link(aside, path).catch(() => undefined)
  await tidy(fs, aside)
}

async function acquire(place: ClaimPlace, path: string): Promise<Owner> {
  const { fs, id } = place
  const other = await readOwner(fs, path)
  if (other !== undefined && isHeld(other, thisProcess(), Date.now())) throw new SessionLockedError(id, other)
  await removeLapsed(place, path, other)
  const owner = ownerFor('lease', Date.now() + place.leaseMs)
  const aside = await writeOwnerAside(fs, path, owner)
  try {
    await fs.link(aside, path)
  } catch (error) {
    if (codeOf(error) === 'EEXIST') throw new SessionLockedError(id, (await readOwner(fs, path)) ?? {})
    throw error
  } finally {
    await tidy(fs, aside)
  }
  return owner
}

/**
 * A claim that is an owner file and a time: for file systems without kernel locks. It is renewed while the process runs
 * and looked at before every write, so a writer that slept past its lease writes nothing. Between that look and the
 * write a pause of the process can still let two writers meet, and clocks of several hosts must agree. SPEC 5.2.
 */
export async function claimLease(place: ClaimPlace, path: string): Promise<Claim> {
  const { fs, leaseMs } = place
  let owner = await acquire(place, path)
  const check = async (): Promise<void> => {
    const isOurs = (await readOwner(fs, path))?.token === owner.token
    // Renewing a lapsed lease could overwrite that of a writer who is just taking it.
    if (!isOurs || (owner.until ?? 0) <= Date.now())
      throw new SessionConflictError(
        'the lease lapsed: this writer no longer holds the session, and nothing was written',
      )
  }
  const renew = async (): Promise<void> => {
    await check()
    const renewed = { ...owner, until: Date.now() + leaseMs }
    await writeOwner(fs, path, renewed)
    owner = renewed
  }
  const timer = setInterval(() => {
    // A renewal that fails shows at the next write.
    renew().catch(() => undefined)
  }, leaseMs / 3)
  timer.unref()
  return {
    verify: check,
    release: async () => {
      clearInterval(timer)
      // An owner file that stays lapses by itself.
      const named = await readOwner(fs, path).catch(() => undefined)
      if (named?.token === owner.token) await tidy(fs, path)
    },
  }
}
