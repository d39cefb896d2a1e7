import { type InstructionFile, sha256 } from './content.ts'
import type { FileRecord, LeftOutReason } from './records.ts'

const preamble = `Instruction files of this workspace, put here by the program. Follow them; the words of the user go first.
Each file holds for its own directory and below; where two disagree, the one in the deeper directory counts.
What is said here of a file replaces whatever was said of it before.`

const retired = 'What stood here about instruction files of this workspace is said elsewhere in this conversation.'

const reasonTexts: Readonly<Record<LeftOutReason, string>> = {
  'over-budget': 'the more specific files leave no room for it. Read it before you work in its directory',
  'too-large': 'it is too large. Read the parts that you need before you work in its directory',
  'not-text': 'it is not UTF-8 text',
  unreadable: 'it cannot be read',
  'outside-root': 'it is a link to a place outside the workspace',
}

/**
 * The text of a message that tells of `records`, each quoted file between two lines that carry a mark. The mark comes
 * from the digests and stands in no quoted text and no path, so no file can end its quotation or begin another. The
 * same input gives the same bytes. SPEC 7.3.
 */
export function renderFrame(records: readonly FileRecord[], files: ReadonlyMap<string, InstructionFile>): string {
  if (records.length === 0) return retired
  const texts = new Map<string, string>()
  for (const record of records) {
    const file = files.get(record.path)
    if (record.status === 'quoted' && file?.kind === 'text') texts.set(record.path, file.text)
  }
  const mark = markFor(records, texts)
  const parts = records.map((record) => part(record, mark, texts))
  const rule =
    texts.size === 0 ? '' : `\nA quotation begins and ends only where BEGIN and END are followed by the mark ${mark}.`
  return `${preamble}${rule}\n\n${parts.join('\n')}\n`
}

/** A mark that nothing quoted holds, in either case. Some counter always gives one: texts are finite. */
function markFor(records: readonly FileRecord[], texts: ReadonlyMap<string, string>): string {
  const seed = records.map((record) => (record.status === 'quoted' ? record.digest : '')).join('\n')
  const haystacks = [...texts.values(), ...records.flatMap(pathsIn)].map((text) => text.toLowerCase())
  for (let counter = 0; ; counter += 1) {
    const mark = sha256(`${seed}\n${String(counter)}`).slice(0, 16)
    if (!haystacks.some((text) => text.includes(mark))) return mark
  }
}

function pathsIn(record: FileRecord): readonly string[] {
  return record.status === 'same' ? [record.path, record.as] : [record.path]
}

function part(record: FileRecord, mark: string, texts: ReadonlyMap<string, string>): string {
  const name = quotePath(record.path)
  if (record.status === 'same') return `${name} holds the same text as ${quotePath(record.as)}.`
  if (record.status === 'left-out') return `${name} is left out: ${reasonTexts[record.reason]}.`
  if (record.status === 'removed') return `${name} is gone or empty: what it said no longer holds.`
  const text = texts.get(record.path) ?? ''
  const note = record.changed === true ? ' (changed since it was quoted before)' : ''
  return `BEGIN ${mark} ${name}${note}\n${text}${text.endsWith('\n') ? '' : '\n'}END ${mark}`
}

/** A path on one line, whatever its name: JSON, and escapes for what JSON leaves but a reader could take for layout. */
function quotePath(path: string): string {
  return JSON.stringify(path).replaceAll(
    /[\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff]/g,
    (char) => String.raw`\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}
