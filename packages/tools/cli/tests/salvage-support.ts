import { readFileSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { stringifyEvent, stringifyHeader } from '@palimpsest/session'
import { codingSession } from '@palimpsest/testkit'
import { expect } from 'vitest'
import type { Salvage } from '../src/commands/salvage.ts'
import { palimpsest, scratch } from './support.ts'

/** A header line, without its newline. */
export function headerLine(id: string, rest: object = {}): string {
  const header = { format: 'palimpsest', version: 3, id, createdAt: 1, isSeeded: false, delegationDepth: 0, ...rest }
  return stringifyHeader(header as never)
}

/** The records of a coding session, without newlines. */
export function sessionLines(seed: number, events: number): string[] {
  return [...codingSession({ seed, events, replacementRate: 0.1 })].map(({ event }) => stringifyEvent(event as never))
}

export interface Salvaged {
  readonly root: string
  readonly salvage: Salvage
  readonly milliseconds: number
}

/**
 * Salvages a file that holds these bytes into a new store, and asserts what holds for every salvage: the source stays as
 * it is, the parts are its bytes without gap or overlap, what is kept raw is what stood there, and a second run writes
 * nothing and says the same.
 */
export async function salvageBytes(bytes: Buffer, name = 's.jsonl'): Promise<Salvaged> {
  const root = scratch()
  const path = join(scratch(), name)
  writeFileSync(path, bytes)
  utimesSync(path, 1, 1)
  const began = performance.now()
  const first = await palimpsest(['salvage', path, '--json'], { root })
  const milliseconds = performance.now() - began
  expect([first.exit, first.err]).toEqual([0, ''])
  const salvage = first.json as Salvage
  expectAccounted(bytes, salvage)
  const second = (await palimpsest(['salvage', path, '--json'], { root })).json as Salvage
  expect(second).toEqual({ ...salvage, sessions: salvage.sessions.map((each) => ({ ...each, wasThere: true })) })
  expect(readFileSync(path).equals(bytes)).toBe(true)
  expect(statSync(path).mtimeMs).toBe(1000)
  return { root, salvage, milliseconds }
}

function expectAccounted(bytes: Buffer, { source, bytes: sums, parts }: Salvage): void {
  expect(source.bytes).toBe(bytes.length)
  expect(Object.values(sums).reduce((sum, each) => sum + each, 0)).toBe(bytes.length)
  let at = 0
  for (const { start, end } of parts) {
    expect(start).toBe(at)
    expect(end).toBeGreaterThan(start)
    at = end
  }
  expect(at).toBe(bytes.length)
}

interface ShownEvent {
  readonly type: string
  readonly seq: number
  readonly data: { readonly text?: string; readonly encoding?: string; readonly start?: number }
}

/** The events of one session of the store. */
async function eventsOf(root: string, id: string): Promise<readonly ShownEvent[]> {
  const { json, err } = await palimpsest(['show', id, '--json'], { root })
  expect(err).toBe('')
  return (json as { events: readonly ShownEvent[] }).events
}

/** Asserts that every part is where the report says, and that every session verifies without an error. */
export async function expectReachable(bytes: Buffer, { root, salvage }: Salvaged): Promise<void> {
  const byId = new Map<string, readonly ShownEvent[]>()
  for (const { id } of salvage.sessions) {
    byId.set(id, await eventsOf(root, id))
    const { json } = await palimpsest(['verify', id, '--json'], { root })
    const { findings } = json as { findings: readonly { severity: string }[] }
    expect(findings.filter(({ severity }) => severity !== 'info')).toEqual([])
  }
  for (const { start, end, became, session, keptAs, seq } of salvage.parts) {
    if ((became !== 'event' && became !== 'raw') || salvage.sessions.length === 0) continue
    const kept = byId.get(session ?? '')?.[keptAs ?? -1]
    if (became === 'raw') {
      expect(kept).toMatchObject({ type: 'salvage/raw', data: { start, end } })
      const encoding = kept?.data.encoding === 'base64' ? 'base64' : 'utf8'
      expect(Buffer.from(kept?.data.text ?? '', encoding).equals(bytes.subarray(start, end))).toBe(true)
    } else {
      const text = bytes.toString('utf8', start, end).trim()
      const event = JSON.parse(text) as { type: string; seq: number; data: object }
      expect(event.seq).toBe(seq)
      expect(kept?.type).toBe(event.type)
    }
  }
}
