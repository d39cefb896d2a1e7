import { runCompaction } from '@palimpsest/compact'
import { persistSession } from '@palimpsest/session-persistence'
import { jsonlPersistence } from '@palimpsest/session-persistence-jsonl'
import { bare, range, short, talk } from '../support.ts'

/** Compacts a session below `root` and is gone in the next tick. With `forget` it does not wait for the disk. */
const [root = '', forget] = process.argv.slice(2)
const store = jsonlPersistence({ root })
const session = talk()
const persisted = persistSession(session, await store.create(session.header), { maxBatchDelayMs: 60_000 })
await persisted.flush()
const flush = (): Promise<void> => persisted.flush()
const outcome = await runCompaction(session, range(1, 5), short, forget === undefined ? { ...bare, flush } : bare)
process.nextTick(() => process.exit(outcome.kind === 'compacted' ? 0 : 1))
