#!/usr/bin/env node
import { fileURLToPath } from 'node:url'
import { processIo } from './io.ts'
import { run } from './run.ts'

// A reader that goes away, such as `head`, is no fault.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error
})
process.exitCode = await run(process.argv.slice(2), processIo(fileURLToPath(import.meta.url)))
