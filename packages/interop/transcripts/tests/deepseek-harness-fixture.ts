interface Row {
  readonly type: string
  readonly data: object
  readonly surfaceOp?: unknown
  readonly sourceEventSeqs?: readonly number[]
}

/** Writes a log as deepseek-harness does, version 3. */
export class DshLog {
  readonly rows: Row[] = []

  row(type: string, data: object, placement: Omit<Row, 'type' | 'data'> = {}): number {
    this.rows.push({ type, data, ...placement })
    return this.rows.length - 1
  }

  user(text: string, placement: Omit<Row, 'type' | 'data'> = { surfaceOp: 'append' }): number {
    const id = `m${this.rows.length}`
    const content = [{ type: 'text', text }]
    return this.row('user/message', { id, role: 'user', content, source: { kind: 'user' } }, placement)
  }

  model(content: readonly object[]): number {
    const source = { kind: 'model', provider: 'deepseek', model: 'm-1' }
    const message = { id: `m${this.rows.length}`, role: 'assistant', content, source }
    return this.row('assistant/message', { turn: 1, step: 1, message, stream: [] }, { surfaceOp: 'append' })
  }

  replace(text: string, startSeq: number, endSeq: number): number {
    const sourceEventSeqs = this.rows.flatMap(({ surfaceOp }, seq) =>
      surfaceOp !== undefined && seq >= startSeq && seq <= endSeq ? [seq] : [],
    )
    return this.user(text, { surfaceOp: { op: 'replace', startSeq, endSeq }, sourceEventSeqs })
  }

  types(): string[] {
    return this.rows.map(({ type }) => type)
  }

  text(): string {
    const header = {
      type: 'session',
      version: 3,
      id: 'd-1',
      createdAt: 1_700_000_000_000,
      isSeeded: false,
      delegationDepth: 0,
    }
    const rows = this.rows.map(({ type, ...rest }, seq) => ({ type, seq, time: 1_700_000_000_000 + seq, ...rest }))
    return [header, ...rows].map((row) => `${JSON.stringify(row)}\n`).join('')
  }
}

/** A turn with a system prompt, a prompt, a call, its answer, and a closing word. */
export function dshLog(): DshLog {
  const log = new DshLog()
  log.row('turn/start', { turn: 1 })
  log.row('step/start', { turn: 1, step: 1 })
  const system = {
    id: 'sys',
    role: 'system',
    content: [],
    source: { kind: 'plugin', plugin: 'dsh' },
  }
  log.row('system/message', { turn: 1, step: 1, message: system }, { surfaceOp: 'append' })
  log.user('List the files')
  log.model([{ type: 'tool-call', id: 'c1', name: 'bash', arguments: '{"command":"ls"}' }])
  const call = log.row('tool/call', { turn: 1, step: 1, callId: 'c1', name: 'bash', arguments: '{"command":"ls"}' })
  const message = {
    id: 'r1',
    role: 'user',
    content: [{ type: 'tool-result', toolCallId: 'c1', content: [{ type: 'text', text: 'a.txt' }], isError: false }],
    source: { kind: 'tool', callId: 'c1' },
  }
  log.row('tool/result', { turn: 1, step: 1, message }, { surfaceOp: 'append', sourceEventSeqs: [call] })
  log.model([{ type: 'text', text: 'One file.' }])
  log.row('step/end', { turn: 1, step: 1 })
  log.row('turn/end', { turn: 1, reason: { kind: 'completed' } })
  return log
}
