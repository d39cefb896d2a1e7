import { deriveMessagesAt } from '@palimpsest/session'
import { samplesOf } from '@palimpsest/testkit'
import { expect, test } from 'vitest'
import { importDeepSeekHarness } from '../src/index.ts'
import type { ImportedSession } from '../src/index.ts'
import { dshLog } from './deepseek-harness-fixture.ts'
import { importBytes, sampleBytes } from './support.ts'

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

const written = [['a log written by us', dshLog().text()]] as const
const samples = samplesOf('deepseek-harness').map(
  (name) => [name, new TextDecoder().decode(sampleBytes(name))] as const,
)

test.each([...written, ...samples])('%s: read line by line, it says what its conversion says', async (_, text) => {
  // Behind the last newline stands nothing, or a row that was cut off.
  const lines = text.split('\n').filter((line) => line.endsWith('}'))
  const converted = await imported(lines)
  const settled = await imported([...lines, '{"type":"no/such-type","data":{}}'])
  expect([isSettled(converted), isSettled(settled)]).toEqual([false, true])
  expect(seen(settled)).toEqual(seen(converted))
})
