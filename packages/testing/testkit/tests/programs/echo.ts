import { sessionSeq } from '@palimpsest/session'

// Says that it started, then repeats its input until it is told to leave.
process.stdout.write(`ready ${sessionSeq(3)} ${process.argv[2] ?? ''}\n`)
process.stdin.on('data', (chunk: Buffer) => {
  if (chunk.toString().startsWith('leave')) process.exit(7)
  process.stdout.write(`heard ${chunk.toString()}`)
})
