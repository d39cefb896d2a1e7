import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { longRun } from '../long-run.ts'

/**
 * A long run in a process of its own. Argument: the messages. It says, as lines of JSON, what lives on the heap after a
 * collection at a quarter, a half and the end, how large the log is as JSON, and what the run did.
 */
setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void
const messages = Number(process.argv[2])
const start = performance.now()

function say(value: object): void {
  process.stdout.write(`${JSON.stringify(value)}\n`)
}

async function settle(): Promise<void> {
  // What finished promises and streams hold goes with the turn of the event loop.
  for (let turn = 0; turn < 3; turn += 1) await new Promise((resolve) => setImmediate(resolve))
  collect()
}

await settle()
const idle = process.memoryUsage().heapUsed
const { session, ...run } = await longRun({
  messages,
  samples: [0.25, 0.5, 1],
  onSample: async (count, sampled) => {
    await settle()
    const heap = process.memoryUsage().heapUsed - idle
    const [seconds, entries] = [(performance.now() - start) / 1000, sampled.surface.nodes.length]
    let logBytes = 0
    for (const event of sampled.eventsFrom(0)) logBytes += JSON.stringify(event).length
    say({ messages: count, events: sampled.length, entries, logBytes, heap, seconds })
  },
})
say({ ...run, events: session.length, problems: run.problems.slice(0, 5) })
