import type { Cli } from '../cli.ts'
import type { Salvage, SalvagedSession } from '../salvage/salvage.ts'
import { argument, bytes, count, oneLine, pad } from './text.ts'

const SHOWN = 12

const accounts: readonly (readonly [keyof Salvage['bytes'], string])[] = [
  ['header', 'header'],
  ['records', 'records of a history'],
  ['repeats', 'records that are there twice'],
  ['raw', 'kept as they stand, without a place'],
  ['nul', 'NUL bytes'],
  ['blank', 'blank lines'],
]

/** What a salvage did, for people. */
export function renderSalvage(cli: Cli, { source, bytes: spent, sessions }: Salvage): string {
  const { style } = cli
  if (sessions.length === 0) {
    const why =
      source.why === undefined
        ? 'every record has its place; `palimpsest repair` closes what is open'
        : 'its log holds nothing'
    return `${style('bold', oneLine(source.id))}: nothing to salvage, ${why}\n`
  }
  const head = `${style('bold', oneLine(source.id))}: ${source.why === undefined ? 'its bytes are in order, what has no place breaks a rule' : oneLine(source.why)}\n`
  const sums = accounts
    .filter(([key]) => spent[key] > 0)
    .map(([key, text]) => `  ${pad(bytes(spent[key]), 10)}${text}\n`)
  const next = sessions[0] === undefined ? '' : `\nNext: palimpsest verify ${oneLine(argument(sessions[0].id))}\n`
  return `${head}${style('dim', `${source.bytes.toLocaleString('en-US')} bytes, all accounted for:`)}\n${sums.join('')}${sessions.map((each) => block(cli, each)).join('')}${next}`
}

function block(
  { style }: Cli,
  { id, forkSeq, branchOf, events, messages, closers, missing, unplaced, wasThere }: SalvagedSession,
): string {
  const branch =
    branchOf === undefined ? '' : `, another history from seq ${forkSeq} on; before that as ${oneLine(branchOf)}`
  const lines = [
    `${style('green', wasThere ? '=' : '+')} ${style('bold', oneLine(id))}${wasThere ? ' (was there already)' : ''}`,
  ]
  lines.push(`  ${count(events, 'event')}, ${count(messages, 'message')}${branch}`)
  if (closers > 0) lines.push(`  ${count(closers, 'event')} added to close what was left open`)
  for (const { from, to } of missing)
    lines.push(`  ${style('yellow', 'missing')} seq ${from === to ? from : `${from} to ${to}`}`)
  for (const { start, end, line, reason, seq, keptAs } of unplaced.slice(0, SHOWN)) {
    const what = seq === undefined ? '' : `seq ${seq}, `
    lines.push(
      `  ${style('yellow', 'no place')} ${what}line ${line}, bytes ${start} to ${end}: ${reason}; kept as event ${keptAs}`,
    )
  }
  if (unplaced.length > SHOWN) lines.push(`  and ${unplaced.length - SHOWN} more: --json lists them`)
  return `${lines.join('\n')}\n`
}
