import { basicCompaction, extractSummarizer } from '@palimpsest/compact-basic'
import { compactionEvents } from '@palimpsest/compact'
import { languageModelAdapter } from '@palimpsest/provider-messages'
import { Session, coreEvents, sessionId } from '@palimpsest/session'
import { persistSession } from '@palimpsest/session-persistence'
import { jsonlPersistence } from '@palimpsest/session-persistence-jsonl'
import { AgentLoop, type ToolContext } from '../../../src/index.ts'
import { allTargets } from '../targets.ts'
import { BodyLedger, Gate, wireTools } from '../tools.ts'

// One life of an agent: goes on with the session that is on the disk, says each event and each body, and sends turns
// until it is killed or done.
const [root = '', id = '', name = '', baseURL = '', turns = ''] = process.argv.slice(2)
const say = (line: string): unknown => process.stdout.write(`${line}\n`)

const target = allTargets.find((one) => one.name === name)
if (target === undefined) throw new Error(`no target ${name}`)
const vocabulary = coreEvents.extend(compactionEvents)
const store = jsonlPersistence({ root })
const isNew = (await store.stat(sessionId(id))) === undefined
const fresh = Session.create({ id, vocabulary })
const handle = isNew ? await store.create(fresh.header) : await store.open(sessionId(id), 'write')
const session = isNew ? fresh : Session.restore(handle.stored, { vocabulary })
const persisted = persistSession(session, handle, { maxBatchDelayMs: 0 })
session.on('session/event', ({ type, seq }) => void say(`event ${seq} ${type}`))

const attachments = store.attachments(sessionId(id))
const tools = wireTools({
  ledger: new BodyLedger(),
  gate: new Gate(),
  putImage: (bytes) => attachments.put(bytes, { mediaType: 'image/png', width: 1, height: 1 }),
}).map((tool) => ({
  ...tool,
  execute: (input: unknown, context: ToolContext) => {
    say(`body ${context.turn}/${context.step}/${context.callId}`)
    return tool.execute(input, context)
  },
}))
const loop = new AgentLoop({
  session,
  model: target.model(baseURL, fetch),
  adapter: languageModelAdapter({ attachments }),
  tools,
  system: 'You read files.',
  settings: target.settings,
  flush: () => persisted.flush(),
  sleep: () => Promise.resolve(),
})
basicCompaction({
  session,
  summarize: extractSummarizer(),
  budget: { tokens: 2500 },
  keepRecentTokens: 300,
  summaryTokens: 60,
  flush: () => persisted.flush(),
}).attach(loop)

for (let turn = 0; turn < Number(turns); turn += 1) await loop.send(`Go on, ${turn}.`)
await loop.close()
await persisted.close()
await store.close()
say('done')
