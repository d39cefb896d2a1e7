/** Writes lines as the Codex CLI does. */
export class CodexFixture {
  readonly lines: string[] = []
  #count = 0

  /** A line with an envelope. */
  line(type: string, payload: unknown, members: Readonly<Record<string, unknown>> = {}): this {
    this.#count += 1
    const timestamp = new Date(Date.UTC(2026, 0, 1) + this.#count * 1000).toISOString()
    this.lines.push(JSON.stringify({ timestamp, ...members, type, payload }))
    return this
  }

  raw(text: string): this {
    this.lines.push(text)
    return this
  }

  meta(members: Readonly<Record<string, unknown>> = {}): this {
    const timestamp = '2026-01-01T00:00:00.000Z'
    const base = { id: 'thread-1', timestamp, cwd: '/home/user', cli_version: '1.0.0', model_provider: 'openai' }
    return this.line('session_meta', { ...base, base_instructions: { text: 'Be brief.' }, ...members })
  }

  context(members: Readonly<Record<string, unknown>> = {}): this {
    return this.line('turn_context', { cwd: '/home/user', model: 'gpt-5', effort: 'high', ...members })
  }

  event(type: string, members: Readonly<Record<string, unknown>> = {}): this {
    return this.line('event_msg', { type, ...members })
  }

  item(type: string, members: Readonly<Record<string, unknown>> = {}): this {
    return this.line('response_item', { type, ...members })
  }

  say(role: string, text: string, members: Readonly<Record<string, unknown>> = {}): this {
    return this.item('message', { ...said(role, text), ...members })
  }

  call(id: string, members: Readonly<Record<string, unknown>> = {}): this {
    return this.item('function_call', { name: 'shell', arguments: `{"cmd":"${id}"}`, call_id: id, ...members })
  }

  output(id: string, output: unknown = `out ${id}`): this {
    return this.item('function_call_output', { call_id: id, output })
  }

  tokens(total: number): this {
    const usage = { input_tokens: total, cached_input_tokens: 1, output_tokens: 2 }
    return this.event('token_count', { info: { total_token_usage: usage, last_token_usage: usage } })
  }

  bytes(): Uint8Array {
    return new TextEncoder().encode(this.lines.map((line) => `${line}\n`).join(''))
  }
}

/** A message item. */
export const said = (role: string, text: string): Readonly<Record<string, unknown>> => ({
  type: 'message',
  role,
  content: [{ type: role === 'assistant' ? 'output_text' : 'input_text', text }],
})

/** A rollout with most of what an importer can trip over. */
export function tangledRollout(): CodexFixture {
  return new CodexFixture()
    .meta({ source: { subagent: { other: 'review' } }, parent_thread_id: 'thread-0' })
    .meta({ id: 'thread-0' })
    .say('developer', 'Sandboxed.')
    .say('user', '<environment_context>here</environment_context>')
    .event('task_started')
    .say('user', 'List the files', { id: 'msg_1' })
    .event('user_message', { message: 'List the files' })
    .context()
    .item('reasoning', { summary: [{ type: 'summary_text', text: 'Look.' }], encrypted_content: 'sealed', id: 'rs_1' })
    .say('assistant', 'Listing.', { phase: 'commentary' })
    .call('c1')
    .item('custom_tool_call', { call_id: 'c2', name: 'apply_patch', input: '*** Begin' })
    .tokens(10)
    .item('custom_tool_call_output', { call_id: 'c2', output: 'Done' })
    .output('c1', '{"output":"no","metadata":{"exit_code":2,"duration_seconds":0.5}}')
    .item('web_search_call', { status: 'completed', action: { type: 'search', query: 'x' } })
    .item('local_shell_call', { call_id: 'c3', status: 'completed', action: { type: 'exec', command: ['ls'] } })
    .output('c3', [
      { type: 'input_text', text: 'a picture' },
      { type: 'input_image', image_url: 'data:image/png;base64,iVBORw0KGgo=' },
      { type: 'input_audio', audio: 'x' },
    ])
    .say('assistant', 'Two files.')
    .event('task_complete')
    .say('user', 'Take that back')
    .say('assistant', 'Taken back.')
    .event('thread_rolled_back', { num_turns: 1 })
    .line('compacted', { message: 'Two files so far.' })
    .say('user', 'Go on')
    .call('c4')
    .event('turn_aborted', { reason: 'interrupted' })
    .item('reasoning', { summary: [], content: [{ type: 'reasoning_text', text: 'Open.' }] })
    .call('c5')
    .line('compacted', {
      message: '',
      window_id: 3,
      replacement_history: [
        said('user', 'Go on'),
        said('assistant', 'So far.'),
        { type: 'compaction', encrypted_content: 'e' },
      ],
    })
    .line('inter_agent_communication', { author: 'a', recipient: 'b', content: 'Found it', trigger_turn: true })
    .item('ghost_snapshot', { ghost_commit: { id: 'x' } })
    .say('assistant', 'Good.', { id: 'msg_2' })
    .line('world_state', { full: true, state: {} }, { ordinal: 4 })
    .raw('{"type":"message","role":"user","content":[{"type":"input_text","text":"bare"}]}')
    .raw('{"record_type":"state"}')
}
