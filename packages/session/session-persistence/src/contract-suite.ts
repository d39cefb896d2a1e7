import { describe } from 'vitest'
import { describeAttachments } from './contract-suite/attachments.ts'
import { setUpBench, type PersistenceHarness } from './contract-suite/bench.ts'
import { describeEnding } from './contract-suite/ending.ts'
import { describeListing } from './contract-suite/listing.ts'
import { describeSession } from './contract-suite/session.ts'
import { describeWriting } from './contract-suite/writing.ts'

export type { PersistenceHarness } from './contract-suite/bench.ts'

/**
 * Holds a backend to SPEC 5.1. Call it at the top level of a vitest file; `factory` makes a fresh storage for each
 * test.
 */
export function runPersistenceContract(
  name: string,
  factory: () => PersistenceHarness | Promise<PersistenceHarness>,
): void {
  describe(`${name} keeps the persistence contract`, () => {
    const bench = setUpBench(factory)
    describeWriting(bench)
    describeSession(bench)
    describeListing(bench)
    describeAttachments(bench)
    describeEnding(bench)
  })
}
