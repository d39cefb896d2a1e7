import { Session } from '@palimpsest/session'
import type { AssistantBlock, ContentBlock, SessionSeq, StoredSession } from '@palimpsest/session'
import { assistantData, resultData, systemData, text, toolCall, userData } from '@palimpsest/testkit'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { toMarkdown } from '../src/index.ts'

interface ParsedEntry {
  readonly heading: string
  /** What is quoted or fenced, in order. */
  readonly texts: readonly string[]
}

const own = [
  /^(?:#|##) /,
  /^\| /,
  /^\*.+\*$/,
  /^\*\*/,
  /^<details><summary>Reasoning<\/summary>$/,
  /^<\/details>$/,
  /^!?\[/,
]

/** Reads a transcript back. Throws on a line that is neither the transcript's own nor inside a block. */
function parse(markdown: string): ParsedEntry[] {
  const entries: { heading: string; texts: string[] }[] = []
  const lines = markdown.split('\n')
  for (let at = 0; at < lines.length; at += 1) {
    const line = lines[at] ?? ''
    const fence = /^(`{3,})(?:text|json)$/.exec(line)?.[1]
    if (line.startsWith('### ')) entries.push({ heading: line.slice(4), texts: [] })
    else if (fence !== undefined) {
      const end = lines.indexOf(fence, at + 1)
      entries.at(-1)?.texts.push(lines.slice(at + 1, end).join('\n'))
      at = end
    } else if (line.startsWith('> ')) {
      const quoted: string[] = []
      for (; lines[at]?.startsWith('> ') === true; at += 1) quoted.push(lines[at]?.slice(2) ?? '')
      const quote = quoted.join('\n')
      if (/[<\r]/.test(quote)) throw new Error(`HTML or a line break that Markdown knows is not fenced: ${quote}`)
      entries.at(-1)?.texts.push(quote)
    } else if (line !== '' && !own.some((form) => form.test(line))) throw new Error(`a line got out: ${line}`)
  }
  return entries
}

const breakers = [
  '```',
  '````text',
  '~~~',
  '> quoted',
  '### User · now · #3',
  '# Title',
  '---',
  '===',
  '| a | b |',
  '<!--',
  '-->',
  '</details>',
  '<script>',
  '[x]: https://example.org',
  '*Empty.*',
  '',
  ' ',
  '\t',
  '\r',
  'plain',
  '`',
  '\u2028',
  '\ud800',
]
const anyHostile = fc.oneof(
  fc.array(fc.constantFrom(...breakers), { maxLength: 5 }).map((lines) => lines.join('\n')),
  fc.array(fc.constantFrom(...breakers), { maxLength: 3 }).map((pieces) => pieces.join('')),
  fc.string({ unit: 'binary', maxLength: 12 }),
)

interface Told {
  readonly prompt: string
  readonly thought: string
  readonly said: string
  readonly call: string
  readonly args: string
  readonly output: string
}
const anyTold: fc.Arbitrary<Told[]> = fc.array(
  fc.record({
    prompt: anyHostile,
    thought: anyHostile,
    said: anyHostile,
    call: anyHostile.map((name) => name || 'x'),
    args: anyHostile,
    output: anyHostile,
  }),
  { minLength: 1, maxLength: 3 },
)

function tell(story: readonly Told[]): Session {
  const session = Session.create({ id: '*x* | <b>', now: () => 0 })
  session.append('system/message', systemData('s', [text('Be brief.')]), { surfaceOp: 'append' })
  for (const [turn, { prompt, thought, said, call, args, output }] of story.entries()) {
    const place = { turn: turn + 1, step: 1 }
    session.append('turn/start', { turn: turn + 1 })
    session.append('step/start', place)
    session.append('user/message', userData(`u${turn}`, [text(prompt)]), { surfaceOp: 'append' })
    const content: AssistantBlock[] = [{ type: 'reasoning', text: thought }, text(said), toolCall('c', call, args)]
    session.append('assistant/message', assistantData(`a${turn}`, content, place), { surfaceOp: 'append' })
    session.append('tool/result', resultData(`r${turn}`, 'c', [text(output)], place, true), { surfaceOp: 'append' })
    session.append('step/end', place)
    session.append('turn/end', { turn: turn + 1, reason: { kind: 'interrupted' } })
  }
  return session
}

const stored = ({ header, events }: Session): StoredSession => ({ header, events, inheritedEventCount: 0 })

test('whatever was said stands in its block byte for byte, and nothing gets out of it', () => {
  fc.assert(
    fc.property(anyTold, (story) => {
      const entries = parse(toMarkdown(stored(tell(story))))
      expect(entries.map(({ texts }) => texts)).toEqual([
        ['Be brief.'],
        ...story.flatMap(({ prompt, thought, said, args, output }) => [[prompt], [thought, said, args], [output]]),
      ])
    }),
    { numRuns: 100 },
  )
})

function story(): Session {
  return tell([
    { prompt: 'Hello', thought: 'Hm.', said: 'Yes', call: 'bash', args: '{"cmd":"ls"}', output: 'a.ts b.ts' },
    { prompt: 'And?', thought: 'So.', said: 'Done', call: 'bash', args: '{}', output: '0123456789' },
  ])
}

test('a transcript says who spoke, when, in which turn and how the turn ended', () => {
  expect(toMarkdown(stored(story()))).toBe(
    [
      '# Session \\*x\\* \\| \\<b\\>',
      '| | |\n| --- | --- |\n| Session | \\*x\\* \\| \\<b\\> |\n| Created | 1970-01-01T00:00:00.000Z |\n| Model | acme-1 |\n| Entries | 7 of a log of 15 events |',
      '### System · 1970-01-01T00:00:00.000Z · #0',
      '> Be brief.',
      '## Turn 1',
      '### User · 1970-01-01T00:00:00.000Z · #3',
      '> Hello',
      '### Model acme-1 · 1970-01-01T00:00:00.000Z · #4',
      '<details><summary>Reasoning</summary>',
      '```text\nHm.\n```',
      '</details>',
      '> Yes',
      '**Call bash** (c)',
      '```json\n{"cmd":"ls"}\n```',
      '### Result of bash · 1970-01-01T00:00:00.000Z · #5',
      '**Error**',
      '```text\na.ts b.ts\n```',
      '*Turn 1 ended: interrupted*',
      '## Turn 2',
      '### User · 1970-01-01T00:00:00.000Z · #10',
      '> And?',
      '### Model acme-1 · 1970-01-01T00:00:00.000Z · #11',
      '<details><summary>Reasoning</summary>',
      '```text\nSo.\n```',
      '</details>',
      '> Done',
      '**Call bash** (c)',
      '```json\n{}\n```',
      '### Result of bash · 1970-01-01T00:00:00.000Z · #12',
      '**Error**',
      '```text\n0123456789\n```',
      '*Turn 2 ended: interrupted*\n',
    ].join('\n\n'),
  )
})

test('a compaction says what it stands for; the whole log shows that too', () => {
  const session = story()
  const range = [3, 4, 5] as SessionSeq[]
  session.append(
    'user/message',
    { ...userData('sum', [text('So far')]), source: { kind: 'plugin', plugin: 'compact' } },
    {
      surfaceOp: { op: 'replace', startSeq: 3 as SessionSeq, endSeq: 5 as SessionSeq },
      sourceEventSeqs: range,
    },
  )
  const surface = toMarkdown(stored(session))
  expect(surface).toContain('*Stands for #3 to #5, 3 entries. What is replaced stays in the log.*')
  expect(parse(surface).map(({ texts }) => texts[0])).toEqual(['Be brief.', 'So far', 'And?', 'So.', '0123456789'])
  const log = toMarkdown(stored(session), { history: 'log' })
  expect(parse(log).map(({ texts }) => texts[0])).toEqual([
    'Be brief.',
    'Hello',
    'Hm.',
    'a.ts b.ts',
    'And?',
    'So.',
    '0123456789',
    'So far',
  ])
  expect(log.match(/\*Replaced by #15\.\*/g)).toHaveLength(3)
})

test('long results are cut where one asks for it, between characters, and the cut is said', () => {
  const cut = toMarkdown(stored(story()), { resultLength: 4 })
  expect(parse(cut).map(({ texts }) => texts.at(-1))).toEqual([
    'Be brief.',
    'Hello',
    '{"cmd":"ls"}',
    'a.ts',
    'And?',
    '{}',
    '0123',
  ])
  expect(cut).toContain('*Cut: 6 of 10 characters are left out.*')
  const session = tell([{ prompt: '', thought: '', said: '', call: 'x', args: '', output: '😀😀' }])
  expect(toMarkdown(stored(session), { resultLength: 3 })).toContain('```text\n😀\n```\n\n*Cut: 2 of 4 characters')
})

test('attachments are links where the caller has one, else named', () => {
  const attachment = { attachmentId: `sha256:${'0'.repeat(64)}`, mediaType: 'image/png', bytes: 5, name: 'a]b.png' }
  const session = Session.create({ id: 'x', now: () => 0 })
  const foreign = { type: 'acme/note', content: '```' } as unknown as ContentBlock
  const content = [{ type: 'image', attachment }, foreign] as Parameters<typeof userData>[1]
  session.append('user/message', userData('u', content), { surfaceOp: 'append' })
  expect(toMarkdown(stored(session))).toContain(
    `*Attachment a\\]b.png: image/png, 5 bytes, ${attachment.attachmentId}*`,
  )
  const linked = toMarkdown(stored(session), { link: () => 'files/a (1)> x.png' })
  expect(linked).toContain('![a\\]b.png](<files/a%20%281%29%3E%20x.png>)')
  expect(parse(linked)[0]?.texts).toEqual(['{"type":"acme/note","content":"```"}'])
})
