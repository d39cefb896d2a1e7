import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import type { SessionEvent } from '../../packages/core/session/src/events.ts'
import { parseSessionHeader } from '../../packages/core/session/src/header.ts'
import { jsonlPersistence } from '../../packages/session/session-persistence-jsonl/src/index.ts'
import { codingSteps } from './workload.ts'

/** Events that one batch holds: enough that syncing is not what takes the time. */
const batchSize = 1000

/** A log that our own writer left. */
export interface CodingLog {
  readonly path: string
  readonly events: number
}

/** Writes a coding session of about `bytes` bytes into a new store at `root`, up to the end of a turn. */
export async function writeCodingLog(root: string, id: string, bytes: number): Promise<CodingLog> {
  const header = {
    format: 'palimpsest',
    version: 3,
    id,
    createdAt: 1_700_000_000_000,
    isSeeded: false,
    delegationDepth: 0,
  }
  const persistence = jsonlPersistence({ root })
  const handle = await persistence.create(parseSessionHeader(header))
  let batch: SessionEvent[] = []
  let written = 0
  for (const { step } of codingSteps(Infinity)) {
    batch.push(step.event as unknown as SessionEvent)
    written += JSON.stringify(step.event).length + 1
    const isEnd = step.type === 'turn/end' && written >= bytes
    if (batch.length < batchSize && !isEnd) continue
    await handle.append(batch)
    batch = []
    if (isEnd) break
  }
  const events = handle.nextSeq
  await persistence.close()
  const log = readdirSync(root, { recursive: true, encoding: 'utf8' }).find((name) => name.endsWith('.jsonl'))
  if (log === undefined) throw new Error('the store left no log')
  return { path: join(root, log), events }
}
