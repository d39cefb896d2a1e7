import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import type { SessionEvent } from '@palimpsest/session'
import { expect } from 'vitest'
import { scratch } from './scratch.ts'
import {
  filesBelow,
  fingerprint,
  id,
  isClean,
  logOf,
  openStore,
  readAll,
  recoveredBytes,
  said,
  sha256,
  unsynced,
  writeSession,
} from './support.ts'

const place = scratch()

/** A log on disk and where its records lie. */
interface Sample {
  readonly path: string
  readonly bytes: Buffer
  /** Start and end of each record, header excluded; the end lies before the commit mark and the newline. */
  readonly records: readonly { readonly start: number; readonly end: number }[]
  readonly events: readonly SessionEvent[]
}

async function sampleOf(
  batches: readonly (readonly SessionEvent[])[],
  marks: 'with marks' | 'without marks',
): Promise<Sample> {
  const root = place.fresh()
  await writeSession(root, batches)
  const path = relative(root, logOf(root))
  const written = readFileSync(join(root, path))
  const bytes = marks === 'with marks' ? written : Buffer.from(written.toString().replaceAll(' \n', '\n'))
  // Otherwise the two variants would be one.
  expect(written.includes(' \n')).toBe(true)
  const records: { start: number; end: number }[] = []
  for (let start = bytes.indexOf(0x0a) + 1; start < bytes.length;) {
    const newline = bytes.indexOf(0x0a, start)
    records.push({ start, end: bytes[newline - 1] === 0x20 ? newline - 1 : newline })
    start = newline + 1
  }
  return { path, bytes, records, events: batches.flat() }
}

async function openCut(sample: Sample, cut: number, root: string): Promise<void> {
  const bytes = sample.bytes.subarray(0, cut)
  const log = join(root, sample.path)
  mkdirSync(dirname(log), { recursive: true, mode: 0o700 })
  writeFileSync(log, bytes, { mode: 0o600 })
  const kept = sample.records.filter(({ end }) => end <= cut).length
  const events = sample.events.slice(0, kept)
  const lastEnd = sample.records[kept - 1]?.end ?? bytes.indexOf(0x0a)
  const newline = bytes.indexOf(0x0a, lastEnd)
  const torn = newline === -1 ? Buffer.alloc(0) : bytes.subarray(newline + 1)

  const before = fingerprint(root)
  expect((await readAll(root)).events).toEqual(events)
  expect(fingerprint(root)).toEqual(before)

  const store = openStore(root, unsynced)
  const handle = await store.open(id, 'write')
  expect(handle.stored.events).toEqual(events)
  expect(isClean(handle.stored.recovered)).toBe(torn.length === 0 && bytes.at(-1) === 0x0a)
  expect(recoveredBytes(root).map(sha256)).toEqual(torn.length === 0 ? [] : [sha256(torn)])
  const moved = handle.stored.recovered.ranges.flatMap(({ movedTo }) => movedTo ?? [])
  expect(moved.map((path) => sha256(readFileSync(join(dirname(log), path))))).toEqual(
    torn.length === 0 ? [] : [sha256(torn)],
  )
  await handle.append([said(kept, 'next')])
  await handle.close()

  const again = await store.open(id, 'read')
  expect(again.stored.events).toEqual([...events, said(kept, 'next')])
  expect(isClean(again.stored.recovered)).toBe(true)
  await again.close()
  await store.close()
  const after = readFileSync(log)
  expect(after.subarray(0, lastEnd).equals(bytes.subarray(0, lastEnd))).toBe(true)
  for (const line of after.toString().trimEnd().split('\n')) JSON.parse(line)
  expect([...filesBelow(root).keys()].filter((path) => path.includes('recovered'))).toHaveLength(
    torn.length === 0 ? 0 : 1,
  )
}

/**
 * Cuts a log at every byte of its last three records and opens each piece: for read it stays as it is, for write what
 * is torn moves aside, the next append lands, and the session reopens clean. Returns how many cuts were tried.
 */
export async function cutEverywhere(
  batches: readonly (readonly SessionEvent[])[],
  marks: 'with marks' | 'without marks',
): Promise<number> {
  const sample = await sampleOf(batches, marks)
  const first = sample.records.at(-3)?.start ?? 0
  for (let cut = first; cut <= sample.bytes.length; cut += 1) {
    await openCut(sample, cut, place.fresh()).catch((cause: unknown) => {
      throw new Error(`cut at byte ${cut} of ${sample.bytes.length}: ${String(cause)}`, { cause })
    })
  }
  return sample.bytes.length - first + 1
}
