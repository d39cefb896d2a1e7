import { open, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { type Finding, SessionError, parseSessionHeader } from '@palimpsest/session'

const LOG_NAME = 'session.v3.jsonl'
/** Bytes of a log in which its header is looked for. */
const HEAD = 64 * 1024

/**
 * Logs below the root that no list shows, since their header cannot be read. Without this, a lost session would pass
 * for one that never was.
 */
export async function findUnlisted(root: string): Promise<Finding[]> {
  const findings: Finding[] = []
  for (const project of await namesIn(root)) {
    for (const session of await namesIn(join(root, project))) {
      const fault = await faultOf(join(root, project, session, LOG_NAME))
      if (fault === undefined) continue
      const { code, why } = fault
      const fix =
        code === 'header/newer-version' ? 'upgrade palimpsest' : `palimpsest salvage ${decodeSegment(session)}`
      const message = `${project}/${session}/${LOG_NAME} is in no list: ${why}`
      findings.push({ code, severity: 'error', message, fix })
    }
  }
  return findings
}

async function namesIn(directory: string): Promise<string[]> {
  const entries = await readdir(directory, { withFileTypes: true }).catch(() => [])
  return entries
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name)
    .sort()
}

/** Why the header of a log cannot be read; undefined where it can, or where there is no log with anything in it. */
async function faultOf(path: string): Promise<{ readonly code: string; readonly why: string } | undefined> {
  const file = await open(path, 'r').catch(() => undefined)
  if (file === undefined) return undefined
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(HEAD), 0, HEAD, 0)
    const end = buffer.indexOf(0x0a)
    // Only a header that was never written to its end: nothing was acknowledged.
    if (end === -1) return bytesRead < HEAD ? undefined : { code: 'header/invalid', why: 'its first line is too long' }
    parseSessionHeader(JSON.parse(buffer.toString('utf8', 0, end).replace(/^\uFEFF/, '')))
    return undefined
  } catch (error) {
    if (error instanceof SessionError) return { code: error.code, why: error.message }
    return { code: 'header/invalid', why: 'its header is not JSON' }
  } finally {
    await file.close()
  }
}

/** The id that a directory was named for; of a very long one only its begin. */
function decodeSegment(segment: string): string {
  return segment.replaceAll(
    /~u([0-9a-f]{4})|~([0-9a-f]{2})/g,
    (_, long: string | undefined, short: string | undefined) =>
      String.fromCharCode(Number.parseInt(long ?? short ?? '', 16)),
  )
}
