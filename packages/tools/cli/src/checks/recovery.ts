import type { Finding } from '@palimpsest/session'
import type { RecoveredRange, RecoveryKind, RecoveryReport } from '@palimpsest/session-persistence'
import { argument, bytes } from '../render/text.ts'

const texts: Readonly<Record<RecoveryKind, string>> = {
  torn: 'the log ends in a record that was not written to its end',
  newline: 'the last record lacks its line end; it is whole and counts',
  nul: 'NUL bytes, as a power loss leaves them, stand between the records; no record is missing',
  stub: 'a piece of an unfinished record stands between the records; no record is missing',
  blank: 'an empty line stands between the records',
  repeat: 'a record stands there a second time, byte for byte the same',
  'negative-zero': 'a record holds -0, which is read as 0',
}

function finding(range: RecoveredRange, name: string): Finding {
  const place = `bytes ${range.start} to ${range.end} (${bytes(range.end - range.start)})`
  const isTorn = range.kind === 'torn'
  return {
    code: isTorn ? 'store/torn-tail' : `store/${range.kind}`,
    severity: isTorn ? 'warning' : 'info',
    message: `${texts[range.kind]}: ${place}`,
    ...(isTorn ? { fix: `palimpsest repair ${argument(name)}` } : {}),
  }
}

/** What reading the log found beside good records. Harmless noise is `info`: it is skipped, and nothing mends it. SPEC 5.2. */
export function recoveryFindings({ ranges }: RecoveryReport, name: string): Finding[] {
  return ranges.map((range) => finding(range, name))
}
