import { closeSync, openSync, readSync } from 'node:fs'

/** The floor's way through a file: one reused buffer of 1 MiB, a scan for newlines, one `JSON.parse` per line. SPEC 10. */
export function readLines(path: string): unknown[] {
  const values: unknown[] = []
  const file = openSync(path, 'r')
  let buffer = Buffer.allocUnsafe(1 << 20)
  let kept = 0
  for (;;) {
    // Only a line longer than the buffer makes it grow.
    if (kept === buffer.length) buffer = Buffer.concat([buffer], buffer.length * 2)
    const read = readSync(file, buffer, kept, buffer.length - kept, null)
    if (read === 0) break
    const end = kept + read
    let start = 0
    for (let at = buffer.indexOf(10, kept); at !== -1 && at < end; at = buffer.indexOf(10, start)) {
      values.push(JSON.parse(buffer.toString('utf8', start, at)))
      start = at + 1
    }
    buffer.copyWithin(0, start, end)
    kept = end - start
  }
  closeSync(file)
  return values
}
