/**
 * A session file as Claude Code writes them, made up for the demonstration: a pasted image, two parallel calls, a
 * compaction, and a crash in the middle of a line. FORMATS 1.
 */
export const demoFileName = '5eed0001-0000-4000-8000-000000000001.jsonl'

const sessionId = demoFileName.replace('.jsonl', '')
const model = 'claude-sonnet-4-5'
const chart =
  'iVBORw0KGgoAAAANSUhEUgAAABgAAAAMAQAAAABQS0DYAAAAIElEQVR42mNgAAM2CGZsQ2DeNgZmEM5tY5DO3cZwG4IBbwkI+/fQ92oAAAAASUVORK5CYII='
const startedAt = Date.UTC(2026, 4, 4, 9, 30)

const uuidOf = (n: number): string => `5eed0001-0000-4000-8000-${n.toString(16).padStart(12, '0')}`

/** Collects lines; each hangs below the one before unless told otherwise. */
class Lines {
  readonly #lines: string[] = []
  #last: number | null = null

  add(members: Readonly<Record<string, unknown>>, parent: number | null = this.#last): number {
    const n = this.#lines.length + 1
    const envelope = {
      parentUuid: parent === null ? null : uuidOf(parent),
      isSidechain: false,
      sessionId,
      cwd: '/home/ada/weather-station',
      uuid: uuidOf(n),
      timestamp: new Date(startedAt + n * 7000).toISOString(),
    }
    this.#lines.push(JSON.stringify({ ...envelope, ...members }))
    this.#last = n
    return n
  }

  says(content: unknown, members: Readonly<Record<string, unknown>> = {}): number {
    return this.add({ type: 'user', message: { role: 'user', content }, ...members })
  }

  answers(id: string, block: unknown): number {
    const message = {
      id,
      type: 'message',
      role: 'assistant',
      model,
      content: [block],
      stop_reason: null,
      usage: usage(id),
    }
    return this.add({ type: 'assistant', requestId: `req_${id}`, message })
  }

  calls(id: string, call: string, name: string, input: unknown): number {
    return this.answers(id, { type: 'tool_use', id: call, name, input })
  }

  result(call: string, text: string, line: number): number {
    const content = [{ type: 'tool_result', tool_use_id: call, content: text }]
    return this.add({ type: 'user', message: { role: 'user', content }, sourceToolAssistantUUID: uuidOf(line) }, line)
  }

  text(): string {
    return `${this.#lines.join('\n')}\n`
  }
}

function usage(id: string): object {
  const n = Number(id.slice(-1))
  return { input_tokens: 900 + 240 * n, output_tokens: 60 + 12 * n }
}

function writeHistory(lines: Lines): void {
  lines.says([
    { type: 'text', text: 'Since this morning the rain chart is nonsense. Here is what I see.' },
    { type: 'image', source: { type: 'base64', media_type: 'image/png', data: chart } },
  ])
  lines.answers('msg_demo_1', { type: 'text', text: 'I will look at the chart code and at the data it draws.' })
  const read = lines.calls('msg_demo_1', 'toolu_demo_1', 'Read', { file_path: 'src/chart.ts' })
  const head = lines.calls('msg_demo_1', 'toolu_demo_2', 'Bash', { command: 'head -3 data/rain.csv' })
  // Parallel answers hang below their own calls, so a walk from the last line back would lose one of them.
  lines.result('toolu_demo_2', 'time,station,mm\n09:00,north,0.4\n09:10,north,0.6', head)
  lines.result('toolu_demo_1', 'export const column = 1 // millimetres', read)
  const edit = lines.calls('msg_demo_2', 'toolu_demo_3', 'Edit', {
    file_path: 'src/chart.ts',
    old_string: '1',
    new_string: '2',
  })
  lines.result('toolu_demo_3', 'src/chart.ts was changed', edit)
  lines.answers('msg_demo_3', {
    type: 'text',
    text: 'The file has a station column now; the chart drew it. It reads column 2 again.',
  })
}

function writeCompaction(lines: Lines): void {
  lines.add(
    {
      type: 'system',
      subtype: 'compact_boundary',
      content: 'Conversation compacted',
      compactMetadata: { trigger: 'manual', preTokens: 4210 },
    },
    null,
  )
  lines.says('Summary: the rain chart drew the station column; src/chart.ts reads column 2 again. Nothing is open.', {
    isCompactSummary: true,
    isVisibleInTranscriptOnly: true,
  })
}

/** The text of the file. Its last line is cut off, as a crash leaves it. */
export function demoTranscript(): string {
  const lines = new Lines()
  writeHistory(lines)
  writeCompaction(lines)
  lines.says('Good. Run the tests.')
  const test = lines.calls('msg_demo_4', 'toolu_demo_4', 'Bash', { command: 'npm test' })
  const whole = lines.text()
  lines.result('toolu_demo_4', '14 tests passed', test)
  const last = lines.text().slice(whole.length)
  return whole + last.slice(0, Math.floor(last.length * 0.7))
}
