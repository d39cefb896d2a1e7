/** Writes lines as Claude Code does. Each line follows the one before it unless told otherwise. */
export class Fixture {
  readonly lines: string[] = []
  #last: string | null = null
  #count = 0

  /** Any line as it stands. */
  raw(text: string): this {
    this.lines.push(text)
    return this
  }

  /** A line with the usual envelope. Returns its uuid. */
  line(type: string, members: Readonly<Record<string, unknown>> = {}): string {
    this.#count += 1
    const uuid = typeof members['uuid'] === 'string' ? members['uuid'] : `u${this.#count}`
    const timestamp = new Date(Date.UTC(2026, 0, 1) + this.#count * 1000).toISOString()
    const envelope = {
      parentUuid: this.#last,
      isSidechain: false,
      cwd: '/home/user',
      sessionId: 's-1',
      uuid,
      timestamp,
      type,
    }
    this.lines.push(JSON.stringify({ ...envelope, ...members }))
    this.#last = uuid
    return uuid
  }

  user(content: unknown, members: Readonly<Record<string, unknown>> = {}): string {
    return this.line('user', { message: { role: 'user', content }, ...members })
  }

  /** One line of the response `id`, with one block. */
  model(id: string, block: Readonly<Record<string, unknown>>, members: Readonly<Record<string, unknown>> = {}): string {
    const usage = {
      input_tokens: 10,
      output_tokens: this.#count,
      cache_read_input_tokens: 3,
      cache_creation_input_tokens: 2,
    }
    const message = {
      id,
      type: 'message',
      role: 'assistant',
      model: 'claude-x',
      content: [block],
      stop_reason: null,
      usage,
    }
    return this.line('assistant', { requestId: `req-${id}`, message, ...members })
  }

  text(id: string, text: string, members: Readonly<Record<string, unknown>> = {}): string {
    return this.model(id, { type: 'text', text }, members)
  }

  call(id: string, callId: string, members: Readonly<Record<string, unknown>> = {}): string {
    return this.model(id, { type: 'tool_use', id: callId, name: 'Bash', input: { command: `echo ${callId}` } }, members)
  }

  result(callId: string, members: Readonly<Record<string, unknown>> = {}): string {
    return this.user([{ type: 'tool_result', tool_use_id: callId, content: `out ${callId}` }], members)
  }

  bytes(): Uint8Array {
    return new TextEncoder().encode(this.lines.map((line) => `${line}\n`).join(''))
  }
}

/** A transcript with most of what an importer can trip over. */
export function tangled(): Fixture {
  const file = new Fixture()
  file.raw('{"type":"summary","summary":"An older title","leafUuid":"elsewhere"}').raw('// a comment').raw('"a string"')
  file.user('<command-name>/model</command-name>')
  file.user('Set up the project')
  file.model('m1', { type: 'thinking', thinking: 'First look around.', signature: 'c2ln' })
  const first = file.call('m1', 'c1')
  const second = file.call('m1', 'c2', { parentUuid: first })
  file.result('c2', { parentUuid: second, sourceToolAssistantUUID: second })
  const one = file.result('c1', {
    parentUuid: first,
    sourceToolAssistantUUID: first,
    toolUseResult: { stdout: 'out c1' },
  })
  file.line('attachment', { attachment: { type: 'todo_reminder' }, parentUuid: one })
  const answer = file.text('m2', 'Two files.')
  file.user('Take that back', { uuid: 'rewound' })
  file.text('m3', 'Taken back.')
  file.user('Show me the picture', { parentUuid: answer })
  file.call('m4', 'c3')
  file.user([
    {
      type: 'tool_result',
      tool_use_id: 'c3',
      content: [{ type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'aGVsbG8=' } }],
    },
  ])
  const tail = file.text('m5', 'There it is.')
  file.line('system', {
    subtype: 'compact_boundary',
    parentUuid: null,
    logicalParentUuid: tail,
    compactMetadata: { trigger: 'auto' },
  })
  file.user('So far: two files and a picture.', { isCompactSummary: true, isVisibleInTranscriptOnly: true })
  file.user('Go on', { isMeta: true })
  file.call('m6', 'c4')
  file.call('m6', 'c5')
  file.result('c4')
  file.user('[Request interrupted by user for tool use]')
  file.user('Never mind, say hello')
  file.text('m7', 'Hello.')
  file.line('user', {
    isSidechain: true,
    agentId: 'a1',
    parentUuid: null,
    message: { role: 'user', content: 'Search' },
  })
  const found = file.call('m8', 'c6', { isSidechain: true, agentId: 'a1' })
  file.result('c6', { isSidechain: true, agentId: 'a1', parentUuid: found })
  file.text('m9', 'Found.', { isSidechain: true, agentId: 'a1' })
  return file
}
