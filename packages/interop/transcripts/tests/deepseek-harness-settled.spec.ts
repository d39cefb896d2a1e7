import { deriveMessagesAt } from '@palimpsest/session'
import { expect, test } from 'vitest'
import { seed, textsOf } from '../../../session/session-format/tests/mutations.ts'
import { importDeepSeekHarness } from '../src/index.ts'
import type { ImportedSession } from '../src/index.ts'
import { importBytes } from './support.ts'

async function imported(lines: readonly string[]): Promise<ImportedSession> {
  const bytes = new TextEncoder().encode(lines.map((line) => `${line}\n`).join(''))
  const importer: typeof importDeepSeekHarness = (source, options) =>
    importDeepSeekHarness(source, { ...options, normalised: true })
  const [first] = await importBytes(bytes, { importer })
  if (first === undefined) throw new Error('nothing was imported')
  return first
}

const isSettled = ({ report }: ImportedSession): boolean =>
  report.warnings.some(({ code }) => code === 'migration/refused')

/** What the model sees at the end. A result that a pruner cut stays whole where rows are settled, so results are names. */
function seen({ session: { events } }: ImportedSession): readonly unknown[] {
  return deriveMessagesAt(events, events.length - 1).map(({ role, content }) => [
    role,
    content.map((block) => (block.type === 'tool-result' ? block.toolCallId : block)),
  ])
}

test.each([0, 1, 2, 3] as const)(
  `a log of version %i that is read line by line says what its conversion says (seed ${seed})`,
  async (version) => {
    for (const lines of (await textsOf(version)).slice(0, 20)) {
      const converted = await imported(lines)
      const settled = await imported([...lines, '{"type":"no/such-type","data":{}}'])
      expect([isSettled(converted), isSettled(settled)]).toEqual([false, true])
      expect(seen(settled)).toEqual(seen(converted))
    }
  },
)
