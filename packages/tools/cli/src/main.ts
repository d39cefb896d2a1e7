#!/usr/bin/env node
import { fileURLToPath } from 'node:url'
import { failureOf } from './exit.ts'
import { processIo } from './io.ts'
import { run } from './run.ts'

for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    // A reader that goes away, such as `head`, is no fault.
    if (error.code === 'EPIPE') return
    const { exit, line } = failureOf(error)
    if (stream === process.stdout) process.stderr.write(`palimpsest: ${line}\n`)
    process.exit(exit)
  })
}
process.exitCode = await run(process.argv.slice(2), processIo(fileURLToPath(import.meta.url)))
