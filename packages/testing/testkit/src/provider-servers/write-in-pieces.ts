import type { Writable } from 'node:stream'
import { setImmediate } from 'node:timers/promises'

/** Writes at most; longer texts go in larger pieces. */
const mostWrites = 48

/**
 * Writes the bytes of `text` in pieces of random size, each in a TCP write of its own, so that characters, lines and
 * events are cut anywhere. Stops when the other side is gone.
 */
export async function writeInPieces(target: Writable, text: string, random: () => number): Promise<void> {
  const bytes = Buffer.from(text)
  const most = Math.max(96, Math.ceil((2 * bytes.length) / mostWrites))
  for (let at = 0; at < bytes.length && !target.destroyed;) {
    const size = 1 + Math.floor(random() * most)
    target.write(bytes.subarray(at, at + size))
    at += size
    // The next write in the same turn of the event loop would share a segment with this one.
    await setImmediate()
  }
}
