import { closeSync, openSync, writeSync } from 'node:fs'
import { stringifyEvent, stringifyHeader } from '../../packages/core/session/src/codec.ts'
import type { SessionEvent } from '../../packages/core/session/src/events.ts'
import { parseSessionHeader } from '../../packages/core/session/src/header.ts'
import { codingSteps } from './workload.ts'

/**
 * Writes the log of a coding session of about `bytes` bytes, as a writer of ours leaves it: canonical key order, a commit mark at
 * the end of each turn. Returns the number of events.
 */
export function writeCodingLog(path: string, id: string, bytes: number): number {
  const header = {
    format: 'palimpsest',
    version: 3,
    id,
    createdAt: 1_700_000_000_000,
    isSeeded: false,
    delegationDepth: 0,
  }
  const file = openSync(path, 'wx', 0o600)
  let written = writeSync(file, `${stringifyHeader(parseSessionHeader(header))} \n`)
  let events = 0
  let pending: string[] = []
  for (const { step } of codingSteps(Infinity)) {
    pending.push(stringifyEvent(step.event as unknown as SessionEvent))
    events += 1
    if (step.type !== 'turn/end') continue
    written += writeSync(file, `${pending.join('\n')} \n`)
    pending = []
    if (written >= bytes) break
  }
  closeSync(file)
  return events
}
