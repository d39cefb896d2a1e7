import { setTimeout as delay } from 'node:timers/promises'
import { PersistenceError, SessionConflictError, SessionLockedError } from '@palimpsest/session-persistence'
import type { OpenFile } from './file-system.ts'
import { thisProcess } from './host.ts'
import { codeOf, isNamed, tidy } from './io.ts'
import { claimLease, type Claim, type ClaimPlace } from './lease.ts'
import { isHeld, ownerFor, readOwner, writeOwner } from './owner.ts'
import { LOCK_NAME, OWNER_NAME, within } from './paths.ts'

/** How one writer keeps the others out. `lease` is for places without kernel locks; see the README for its limits. */
export type LockMode = 'kernel' | 'lease'
export type { Claim, ClaimPlace }

/**
 * Attempts to take a lock that somebody holds without saying who: a reader that looks, or a writer about to write its
 * name.
 */
const ATTEMPTS = 25
const PAUSE_MS = 8

function ownerPath({ root, directory }: ClaimPlace): string {
  return within(root, directory, OWNER_NAME)
}

function lockPath({ root, directory }: ClaimPlace): string {
  return within(root, directory, LOCK_NAME)
}

async function tryLock(file: OpenFile): Promise<boolean> {
  try {
    return await file.tryLock('exclusive')
  } catch (cause) {
    throw new PersistenceError(
      'lock/unsupported',
      "no kernel lock can be had here: open the store with { lock: 'lease' } and read about its limits",
      { cause },
    )
  }
}

type Attempt = { readonly locked: OpenFile } | { readonly busy: boolean }

async function attemptLock(place: ClaimPlace): Promise<Attempt> {
  const path = lockPath(place)
  const file = await place.fs.open(path, 'ensure')
  try {
    const isLocked = await tryLock(file)
    // Between opening and locking, a delete may have taken the name away.
    if (isLocked && (await isNamed(place.fs, file, path))) return { locked: file }
    await file.close()
    return { busy: !isLocked }
  } catch (error) {
    await file.close().catch(() => undefined)
    throw error
  }
}

async function lockFile(place: ClaimPlace): Promise<OpenFile> {
  const self = thisProcess()
  for (let attempt = 1; ; attempt += 1) {
    const result = await attemptLock(place)
    if ('locked' in result) return result.locked
    const owner = await readOwner(place.fs, ownerPath(place))
    const isKnown = owner !== undefined && owner.kind === 'kernel' && isHeld(owner, self, Date.now())
    if (attempt === ATTEMPTS || (result.busy && isKnown)) throw new SessionLockedError(place.id, isKnown ? owner : {})
    await delay(PAUSE_MS)
  }
}

async function claimKernel(place: ClaimPlace): Promise<Claim> {
  const { fs } = place
  const file = await lockFile(place)
  const path = lockPath(place)
  try {
    const other = await readOwner(fs, ownerPath(place))
    if (other?.kind === 'lease' && isHeld(other, thisProcess(), Date.now()))
      throw new SessionLockedError(place.id, other)
    await writeOwner(fs, ownerPath(place), ownerFor('kernel'))
  } catch (error) {
    await file.close().catch(() => undefined)
    throw error
  }
  return {
    verify: async () => {
      if (!(await isNamed(fs, file, path)))
        throw new SessionConflictError(
          'the lock file was removed or replaced: this writer no longer holds the session, and nothing was written',
        )
    },
    release: async () => {
      // The lock file stays: removing it would let two writers lock two files of one name. Whatever fails, the lock
      // goes.
      const isOurs = await isNamed(fs, file, path).catch(() => false)
      if (isOurs) await tidy(fs, ownerPath(place))
      await file.close()
    },
  }
}

/**
 * Takes the claim. Throws `SessionLockedError` when another writer has it, `lock/unsupported` without kernel locks.
 * SPEC 5.2.
 */
export function takeClaim(place: ClaimPlace, mode: LockMode): Promise<Claim> {
  return mode === 'kernel' ? claimKernel(place) : claimLease(place, ownerPath(place))
}

/** Whether some writer holds the session now. Changes nothing. */
export async function isClaimed(place: ClaimPlace): Promise<boolean> {
  const owner = await readOwner(place.fs, ownerPath(place))
  const saysHeld = owner !== undefined && isHeld(owner, thisProcess(), Date.now())
  if (owner?.kind === 'lease' && saysHeld) return true
  let file: OpenFile
  try {
    file = await place.fs.open(lockPath(place), 'read')
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return false
    throw error
  }
  try {
    return !(await file.tryLock('shared'))
  } catch {
    return saysHeld
  } finally {
    await file.close()
  }
}
