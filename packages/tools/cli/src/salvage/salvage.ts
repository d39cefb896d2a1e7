import { open } from 'node:fs/promises'
import { type SessionHeader, parseSessionHeader } from '@palimpsest/session'
import type { SessionPersistence } from '@palimpsest/session-persistence'
import { storeDerived } from '../derived.ts'
import { type AccountedPart, type ByteSums, type Holder, accountFor } from './account.ts'
import { planBranches } from './branches.ts'
import type { History } from './history.ts'
import { keptHistories } from './kept.ts'
import { type SalvagePart, type Section, sectionsOf } from './sections.ts'
import { type SalvageSource, digestOf } from './source.ts'
import { type SalvagedBranch, type Unplaced, writeBranch } from './write.ts'

/** One session that a salvage wrote. Offsets, lines and seqs are those of the damaged log unless said otherwise. */
export interface SalvagedSession {
  readonly id: string
  /** First seq that this history has to itself. */
  readonly forkSeq: number
  /** The session of this salvage that holds what comes before; absent where nothing is shared. */
  readonly branchOf?: string
  readonly events: number
  readonly messages: number
  readonly closers: number
  readonly missing: SalvagedBranch['missing']
  readonly unplaced: readonly Unplaced[]
  /** Whether an earlier salvage of the same bytes had written it. */
  readonly wasThere: boolean
}

/** What `palimpsest salvage` did. Offsets, sizes and lines are those of the damaged log. */
export interface Salvage {
  readonly source: {
    readonly id: string
    readonly bytes: number
    readonly sha256: string
    readonly why: string | undefined
  }
  /** What became of each byte; the sum is `source.bytes`. */
  readonly bytes: ByteSums
  readonly sessions: readonly SalvagedSession[]
  /** Every byte range of the damaged log, in order, once. */
  readonly parts: readonly AccountedPart[]
}

interface PlannedSection {
  readonly section: Section
  readonly histories: readonly History[]
}

/** Writes what is readable of a damaged log as new sessions of the store. The source is only read. SPEC 5.2. */
export async function salvageLog(store: SessionPersistence, source: SalvageSource): Promise<Salvage> {
  const { id, path, log } = source
  const sha256 = await digestOf(path, log.size)
  const sections = sectionsOf(log, id)
  const repeats = new Set<SalvagePart>()
  const planned = sections.map((section): PlannedSection => {
    const plan = planBranches(section.parts)
    for (const part of plan.repeats) repeats.add(part)
    const records = section.parts.filter(({ kind }) => kind === 'record').length
    return { section, histories: keptHistories(plan.histories, records) }
  })
  const target = withAttachmentsOf(store, source)
  const sessions: SalvagedSession[] = []
  const holders: Holder[] = []
  const isOnly = planned.reduce((count, { histories }) => count + histories.length, 0) === 1
  const opens = source.isStored && log.corruption === undefined
  const file = await open(path, 'r')
  try {
    const read = async (start: number, end: number): Promise<Buffer> => {
      const buffer = Buffer.alloc(end - start)
      const { bytesRead } = await file.read(buffer, 0, buffer.length, start)
      return buffer.subarray(0, bytesRead)
    }
    for (const { section, histories } of planned) {
      const idOf = idsFor(section, id, sha256, histories)
      for (const history of histories) {
        const header = headerFor(section, source, sha256, history, idOf)
        const written = await writeBranch(history.allSteps(), header, read)
        const { session, places, closers, missing, unplaced } = written
        const isLeft = session.length === 0 || (isOnly && opens && isWhole(written))
        holders.push({ id: session.id, places, isWritten: !isLeft })
        if (isLeft) continue
        const wasThere = (await store.stat(header.id)) !== undefined
        if (!wasThere) await storeDerived(target, id, { header, events: session.events })
        const branchOf = sharedWith(history, idOf)
        sessions.push({
          id: session.id,
          forkSeq: history.forkSeq,
          ...(branchOf === undefined ? {} : { branchOf }),
          events: session.length,
          messages: session.deriveMessages().length,
          closers,
          missing,
          unplaced,
          wasThere,
        })
      }
    }
  } finally {
    await file.close()
  }
  const { parts, bytes } = accountFor(sections, repeats, holders)
  return { source: { id, bytes: log.size, sha256, why: log.corruption?.message }, bytes, sessions, parts }
}

/** A log that opens, and from which nothing is lost, needs no second one: what it leaves open is for `repair`. */
function isWhole({ unplaced, missing, isMended }: SalvagedBranch): boolean {
  return unplaced.length === 0 && missing.length === 0 && !isMended
}

function idsFor(
  { header }: Section,
  sourceId: string,
  sha256: string,
  histories: readonly History[],
): ReadonlyMap<History, string> {
  const base = `${header?.id ?? sourceId}~salvaged-${sha256.slice(0, 8)}`
  return new Map(histories.map((history, index) => [history, index === 0 ? base : `${base}-branch${index + 1}`]))
}

/** The nearest history that became a session and holds what this one shares. */
function sharedWith(history: History, idOf: ReadonlyMap<History, string>): string | undefined {
  for (let { parent } = history; parent !== undefined; { parent } = parent) {
    const id = idOf.get(parent)
    if (id !== undefined) return id
  }
  return undefined
}

function headerFor(
  section: Section,
  { id: sourceId }: SalvageSource,
  sha256: string,
  history: History,
  idOf: ReadonlyMap<History, string>,
): SessionHeader {
  const { header, parts } = section
  const firstTime = parts.find((part) => part.kind === 'record')?.event.time ?? 0
  const base = header ?? { format: 'palimpsest', version: 3, createdAt: firstTime, isSeeded: false, delegationDepth: 0 }
  const branchOf = sharedWith(history, idOf)
  const fork = branchOf === undefined ? {} : { branchOf, forkSeq: history.forkSeq }
  // Whose child the damaged session is counts for more.
  const parent = branchOf === undefined ? {} : { parentSession: branchOf }
  return parseSessionHeader({
    ...parent,
    ...base,
    id: idOf.get(history),
    salvagedFrom: { id: sourceId, sha256, ...fork },
  })
}

/** The store, where the attachments of the source are those that belong to it. */
function withAttachmentsOf(store: SessionPersistence, { id, attachments }: SalvageSource): SessionPersistence {
  return {
    create: (header) => store.create(header),
    open: (session, mode) => store.open(session, mode),
    stat: (session) => store.stat(session),
    list: (query) => store.list(query),
    attachments: (session) => {
      const own = store.attachments(session)
      if (session !== id) return own
      return {
        put: (bytes, meta) => own.put(bytes, meta),
        has: (ref) => own.has(ref),
        get: (ref) => attachments.get(ref),
      }
    },
    delete: (session) => store.delete(session),
    close: () => store.close(),
  }
}
