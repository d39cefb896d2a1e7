import { createHash } from 'node:crypto'
import { open } from 'node:fs/promises'
import { join } from 'node:path'
import { type SessionHeader, type SessionId, parseSessionHeader, sessionId } from '@palimpsest/session'
import { PersistenceError, type SessionPersistence } from '@palimpsest/session-persistence'
import { type DamagedLog, readDamagedLog } from '@palimpsest/session-persistence-jsonl'
import type { Command } from 'commander'
import { type Cli, type CommonOptions, command, print, sessionHelp } from '../cli.ts'
import { storeDerived } from '../derived.ts'
import { renderSalvage } from '../render/salvage.ts'
import { type BranchPlan, planBranches } from '../salvage/branches.ts'
import { type SalvagedBranch, type Unplaced, writeBranch } from '../salvage/write.ts'
import { resolveSession, rootOf, withStore } from '../store.ts'

/** What `palimpsest salvage` did. Offsets, sizes and lines are those of the damaged log. */
export interface Salvage {
  readonly source: {
    readonly id: string
    readonly bytes: number
    readonly sha256: string
    readonly why: string | undefined
  }
  /** What became of each byte; the sum is `source.bytes`. */
  readonly bytes: BranchPlan['bytes']
  readonly sessions: readonly {
    readonly id: string
    /** First seq that this branch has to itself. */
    readonly forkSeq: number
    readonly events: number
    readonly messages: number
    readonly closers: number
    readonly missing: SalvagedBranch['missing']
    readonly unplaced: readonly Unplaced[]
    /** Whether an earlier salvage of the same bytes had written it. */
    readonly wasThere: boolean
  }[]
}

/** `palimpsest salvage`: a new session from everything readable of a damaged one. */
export function salvageCommand(cli: Cli): Command {
  return command({
    name: 'salvage',
    summary: 'write a new session from what is readable of a damaged one',
    description:
      'Reads whatever can be read of a log that no longer opens, or that acceptance refuses, and writes it as a new session; a second history of the same seqs becomes a session of its own. The damaged log is only read, and every byte of it is accounted for. A log that is whole is left alone.',
    examples: ['palimpsest salvage 29ccd257', 'palimpsest salvage 29ccd257 --json'],
  })
    .argument('<session>', `${sessionHelp}; the whole id where the header cannot be read`)
    .action(async (name: string, options: CommonOptions) => {
      await withStore(cli, options, async (store) => {
        const root = rootOf(cli.io, options)
        const { id, log } = await readDamaged(store, root, name)
        const salvage = await salvageLog(store, root, id, log)
        print(cli, options, salvage, () => renderSalvage(cli, salvage))
      })
    })
}

/** A session whose header cannot be read is in no list: a whole id comes before the begin of another. */
async function readDamaged(
  store: SessionPersistence,
  root: string,
  name: string,
): Promise<{ readonly id: SessionId; readonly log: DamagedLog }> {
  if (name !== 'last' && name !== '') {
    try {
      const id = sessionId(name)
      return { id, log: await readDamagedLog({ root, id }) }
    } catch (error) {
      if (!(error instanceof PersistenceError) || error.code !== 'session/not-found') throw error
    }
  }
  const id = await resolveSession(store, name)
  return { id, log: await readDamagedLog({ root, id }) }
}

async function salvageLog(store: SessionPersistence, root: string, id: SessionId, log: DamagedLog): Promise<Salvage> {
  const path = join(root, log.path)
  const sha256 = await digestOf(path, log.size)
  const { branches, bytes } = planBranches(log)
  const file = await open(path, 'r')
  try {
    const read = async (start: number, end: number): Promise<Buffer> => {
      const buffer = Buffer.alloc(end - start)
      const { bytesRead } = await file.read(buffer, 0, buffer.length, start)
      return buffer.subarray(0, bytesRead)
    }
    const sessions: Salvage['sessions'][number][] = []
    for (const [index, branch] of branches.entries()) {
      const suffix = index === 0 ? '' : `-branch${index + 1}`
      const header = headerFor(log, id, `${id}~salvaged-${sha256.slice(0, 8)}${suffix}`, sha256)
      const written = await writeBranch(branch, header, read)
      if (branches.length === 1 && isWhole(written) && (log.corruption === undefined || written.session.length === 0))
        break
      const wasThere = (await store.stat(header.id)) !== undefined
      if (!wasThere) await storeDerived(store, id, { header, events: written.session.events })
      const { session, closers, missing, unplaced } = written
      const messages = session.deriveMessages().length
      sessions.push({
        id: session.id,
        forkSeq: branch.forkSeq,
        events: session.length,
        messages,
        closers,
        missing,
        unplaced,
        wasThere,
      })
    }
    return { source: { id, bytes: log.size, sha256, why: log.corruption?.message }, bytes, sessions }
  } finally {
    await file.close()
  }
}

/** A log that opens, and from which nothing is lost, needs no second one: what it leaves open is for `repair`. */
function isWhole({ unplaced, missing, isMended }: SalvagedBranch): boolean {
  return unplaced.length === 0 && missing.length === 0 && !isMended
}

async function digestOf(path: string, size: number): Promise<string> {
  const hash = createHash('sha256')
  const file = await open(path, 'r')
  try {
    const buffer = Buffer.alloc(1 << 20)
    for (let at = 0; at < size;) {
      const { bytesRead } = await file.read(buffer, 0, Math.min(buffer.length, size - at), at)
      if (bytesRead === 0) break
      hash.update(buffer.subarray(0, bytesRead))
      at += bytesRead
    }
  } finally {
    await file.close()
  }
  return hash.digest('hex')
}

function headerFor({ header, parts }: DamagedLog, id: SessionId, newId: string, sha256: string): SessionHeader {
  const firstTime = parts.find((part) => part.kind === 'record')?.event.time ?? 0
  const base = header ?? { format: 'palimpsest', version: 3, createdAt: firstTime, isSeeded: false, delegationDepth: 0 }
  return parseSessionHeader({ ...base, id: newId, salvagedFrom: { id, sha256 } })
}
