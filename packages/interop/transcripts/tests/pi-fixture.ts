type Members = Readonly<Record<string, unknown>>

/** Writes lines as pi does, version 3 unless told otherwise. Each entry follows the one before it unless told otherwise. */
export class PiFixture {
  readonly lines: string[] = []
  #last: string | null = null
  #count = 0
  readonly #version: 1 | 3

  constructor(version: 1 | 3 = 3, header: Members = {}) {
    this.#version = version
    const head = { type: 'session', id: 'p-1', timestamp: this.#time(), cwd: '/home/user' }
    this.raw(JSON.stringify({ ...head, ...(version === 1 ? {} : { version }), ...header }))
  }

  raw(text: string): this {
    this.lines.push(text)
    return this
  }

  #time(): string {
    return new Date(Date.UTC(2026, 0, 1) + this.#count * 1000).toISOString()
  }

  /** An entry with the usual envelope. Returns its id. */
  entry(type: string, members: Members = {}): string {
    this.#count += 1
    const id = typeof members['id'] === 'string' ? members['id'] : this.#count.toString(16).padStart(8, '0')
    const place = this.#version === 1 ? {} : { id, parentId: this.#last }
    this.raw(JSON.stringify({ type, ...place, timestamp: this.#time(), ...members }))
    this.#last = id
    return id
  }

  message(message: Members, members: Members = {}): string {
    return this.entry('message', { message, ...members })
  }

  user(content: unknown, members: Members = {}): string {
    return this.message({ role: 'user', content }, members)
  }

  assistant(content: readonly unknown[], message: Members = {}, members: Members = {}): string {
    const usage = { input: 10, output: 2, cacheRead: 3, cacheWrite: 4, totalTokens: 19 }
    const base = {
      role: 'assistant',
      content,
      api: 'anthropic-messages',
      provider: 'anthropic',
      model: 'claude-x',
      usage,
    }
    const timestamp = Date.UTC(2026, 0, 1) + this.#count * 1000
    return this.message({ ...base, stopReason: 'stop', timestamp, ...message }, members)
  }

  says(text: string, members: Members = {}): string {
    return this.assistant([{ type: 'text', text }], {}, members)
  }

  calls(...ids: readonly string[]): string {
    const content = ids.map((id) => ({ type: 'toolCall', id, name: 'bash', arguments: { command: id } }))
    return this.assistant(content, { stopReason: 'toolUse' })
  }

  result(toolCallId: string, message: Members = {}): string {
    const content = [{ type: 'text', text: `out ${toolCallId}` }]
    return this.message({ role: 'toolResult', toolCallId, toolName: 'bash', content, isError: false, ...message })
  }

  bytes(): Uint8Array {
    return new TextEncoder().encode(this.lines.map((line) => `${line}\n`).join(''))
  }
}

/** A file with most of what an importer can trip over. */
export function tangledPi(): PiFixture {
  const file = new PiFixture()
  file.lines.unshift('{"type":"title","v":1,"title":"Pictures"}')
  file.entry('model_change', { provider: 'anthropic', modelId: 'claude-x' })
  file.entry('thinking_level_change', { thinkingLevel: 'high' })
  file.user('Look at both')
  file.assistant([
    { type: 'thinking', thinking: 'Hm.', thinkingSignature: 'c2ln' },
    { type: 'text', text: 'Looking.' },
  ])
  file.calls('a', 'b')
  file.result('b', { isError: true, details: { exitCode: 1 } })
  const kept = file.result('a', {
    content: [{ type: 'image', data: 'aGVsbG8=', mimeType: 'image/png' }, { type: 'what' }],
  })
  const fork = file.says('Both seen.')
  file.user('Take that back')
  file.says('Taken back.')
  file.entry('branch_summary', { parentId: fork, fromId: fork, summary: 'It was taken back.' })
  file.entry('custom', { customType: 'x', data: 1 })
  file.entry('label', { targetId: kept, label: 'here' })
  file.entry('session_info', { name: 'Pictures' })
  const first = file.user([{ type: 'text', text: 'Go on' }])
  file.calls('a')
  file.result('a')
  file.entry('compaction', {
    summary: 'Two pictures.',
    firstKeptEntryId: first,
    tokensBefore: 90,
    details: { readFiles: [] },
  })
  file.entry('custom_message', { customType: 'note', content: 'Mind the gap', display: true })
  file.message({
    role: 'bashExecution',
    command: 'ls',
    output: 'x.png\n',
    exitCode: 0,
    cancelled: false,
    truncated: false,
  })
  file.assistant([], { stopReason: 'error', errorMessage: 'overloaded' })
  const cut = { type: 'toolCall', id: 'c', name: 'write', arguments: {}, partialJson: '{"path": "/ho' }
  file.assistant([{ type: 'text', text: 'I wr' }, cut], { stopReason: 'aborted', errorMessage: 'aborted' })
  file.raw('not JSON').raw('"a string"')
  file.user('Again')
  const item = { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'ZW5j' }
  const openAi = {
    api: 'openai-responses',
    provider: 'openai',
    model: 'gpt-x',
    responseId: 'resp_1',
    timestamp: 1_767_225_600_000,
  }
  const signed = { type: 'text', text: 'Done.', textSignature: '{"v":1,"id":"msg_1","phase":"final_answer"}' }
  file.assistant([{ type: 'thinking', thinking: '', thinkingSignature: JSON.stringify(item) }, signed], openAi)
  const tail = [
    { role: 'user', content: 'Again' },
    { role: 'assistant', content: [{ type: 'text', text: 'Done.' }], ...openAi },
  ]
  file.entry('compaction', { summary: 'Done twice.', retainedTail: tail, tokensBefore: 50 })
  file.user('Thanks')
  return file
}
