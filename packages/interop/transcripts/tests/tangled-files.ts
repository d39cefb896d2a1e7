import { samplesOf } from '@palimpsest/testkit'
import type { SampledAgent } from '@palimpsest/testkit'
import { importClaudeCode, importCodex, importDeepSeekHarness, importMessages, importPi } from '../src/index.ts'
import type { ImportedSession } from '../src/index.ts'
import { dshLog } from './deepseek-harness-fixture.ts'
import { tangled } from './fixture.ts'
import { sampleBytes } from './support.ts'
import type { Importer } from './support.ts'

/** One format with files of it that hold most of what an importer can trip over. */
export interface TangledFormat {
  readonly name: string
  readonly importer: Importer
  /** Written by us, as lists of lines. */
  readonly files: readonly (readonly string[])[]
  /** Whether the lines of a file are what events name: elements of an array, and requests on a line, are no lines. */
  readonly isByLine: (imported: readonly ImportedSession[]) => boolean
}

const at = (second: number): string => new Date(Date.UTC(2026, 0, 1) + second * 1000).toISOString()
const written = (rows: readonly object[]): string[] => rows.map((row) => JSON.stringify(row))

function codexFile(): string[] {
  let second = 0
  const line = (type: string, payload: object): object => ({ timestamp: at((second += 1)), type, payload })
  const item = (payload: object): object => line('response_item', payload)
  const says = (role: string, text: string): object =>
    item({ type: 'message', role, content: [{ type: role === 'assistant' ? 'output_text' : 'input_text', text }] })
  const calls = (id: string): object =>
    item({ type: 'function_call', name: 'shell', arguments: '{"command":["ls"]}', call_id: id })
  const answers = (id: string, output: string): object => item({ type: 'function_call_output', call_id: id, output })
  const meta = {
    id: 's-1',
    timestamp: at(0),
    cwd: '/home/user',
    originator: 'cli',
    cli_version: '0.40.0',
    instructions: 'Be brief',
  }
  return written([
    line('session_meta', meta),
    says('user', '<environment_context>\n  <cwd>/home/user</cwd>\n</environment_context>'),
    line('turn_context', {
      cwd: '/home/user',
      approval_policy: 'never',
      model: 'gpt-x',
      effort: 'high',
      summary: 'auto',
    }),
    says('user', 'List the files'),
    line('event_msg', { type: 'user_message', message: 'List the files' }),
    item({
      type: 'reasoning',
      summary: [{ type: 'summary_text', text: 'Look.' }],
      content: null,
      encrypted_content: 'b3BhcXVl',
    }),
    calls('c1'),
    calls('c2'),
    answers('c2', 'b.txt'),
    answers('c1', JSON.stringify({ output: 'a.txt', metadata: { exit_code: 1, duration_seconds: 0.1 } })),
    line('event_msg', { type: 'token_count', info: null }),
    item({
      type: 'custom_tool_call',
      call_id: 'c3',
      name: 'apply_patch',
      input: '*** Begin Patch',
      status: 'completed',
    }),
    item({ type: 'custom_tool_call_output', call_id: 'c3', output: 'ok' }),
    says('assistant', 'Two files.'),
    says('user', 'Take that back'),
    says('assistant', 'Taken back.'),
    line('event_msg', { type: 'thread_rolled_back', num_turns: 1 }),
    says('user', 'Sum up'),
    says('assistant', 'Two files, one patch.'),
    line('compacted', { message: 'So far: two files.' }),
    says('user', 'Go on'),
    item({ type: 'web_search_call', status: 'completed', action: { type: 'search', query: 'rain' } }),
    line('event_msg', { type: 'turn_aborted', reason: 'interrupted' }),
    calls('c4'),
    says('user', 'And again'),
    says('assistant', 'Again.'),
    line('compacted', {
      message: '',
      replacement_history: [{ type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Kept' }] }],
    }),
    says('user', 'Last'),
    calls('c5'),
  ])
}

function bareCodexFile(): string[] {
  const says = (role: string, text: string): object => ({
    type: 'message',
    role,
    content: [{ type: 'input_text', text }],
  })
  return written([
    { id: 's-2', timestamp: at(0), instructions: null, git: {} },
    { record_type: 'state' },
    says('user', 'List the files'),
    { type: 'function_call', name: 'shell', arguments: '{}', call_id: 'c1' },
    { record_type: 'state' },
    { type: 'function_call_output', call_id: 'c1', output: 'a.txt' },
    says('assistant', 'One file.'),
  ])
}

function piFile(version: 1 | 3): string[] {
  let count = 0
  const entry = (type: string, members: object, parent: string | null = count === 0 ? null : `e${count}`): object => {
    count += 1
    const ids = version === 1 ? {} : { id: `e${count}`, parentId: parent }
    return { type, ...ids, timestamp: at(count), ...members }
  }
  const user = (text: string, parent?: string): object =>
    entry('message', { message: { role: 'user', content: [{ type: 'text', text }], timestamp: count } }, parent)
  const model = (content: readonly object[], stopReason: string): object => {
    const usage = { input: 1, output: 2, cacheRead: 0, cacheWrite: 0, totalTokens: 3 }
    const made = {
      api: 'anthropic-messages',
      provider: 'anthropic',
      model: 'claude-x',
      usage,
      stopReason,
      timestamp: count,
    }
    return entry('message', { message: { role: 'assistant', content, ...made } })
  }
  const call = (id: string): object => ({ type: 'toolCall', id, name: 'bash', arguments: { command: 'ls' } })
  const result = (id: string): object =>
    entry('message', {
      message: {
        role: 'toolResult',
        toolCallId: id,
        toolName: 'bash',
        content: [{ type: 'text', text: 'a' }],
        isError: false,
      },
    })
  const kept = version === 1 ? { firstKeptEntryIndex: 8 } : { firstKeptEntryId: 'e8' }
  return written([
    {
      type: 'session',
      id: 'p-1',
      timestamp: at(0),
      cwd: '/home/user',
      ...(version === 1 ? { provider: 'anthropic', modelId: 'claude-x' } : { version }),
    },
    entry('thinking_level_change', { thinkingLevel: 'high' }),
    user('List the files'),
    model([{ type: 'thinking', thinking: 'Look.', thinkingSignature: 'c2ln' }, call('c1'), call('c2')], 'toolUse'),
    result('c2'),
    result('c1'),
    model([{ type: 'text', text: 'Two files.' }], 'stop'),
    entry('message', {
      message: { role: 'bashExecution', command: 'pwd', output: '/', exitCode: 0, cancelled: false, truncated: false },
    }),
    user('Once more'),
    model([call('c3')], 'error'),
    user('Go on'),
    model([{ type: 'text', text: 'Done.' }], 'stop'),
    entry('compaction', { summary: 'So far: two files.', tokensBefore: 100, ...kept }),
    user('And now'),
    ...(version === 1
      ? []
      : [user('Rather this', 'e13'), entry('branch_summary', { fromId: 'e14', summary: 'Tried that.' })]),
    model([call('c4'), call('c4')], 'toolUse'),
    result('c4'),
    entry('custom', { customType: 'x', data: {} }),
  ])
}

function chatFile(): string[] {
  const call = (id: string): object => ({ id, type: 'function', function: { name: 'bash', arguments: '{"a":1}' } })
  return written([
    { role: 'system', content: 'Be brief' },
    { role: 'user', content: 'Hi' },
    { role: 'assistant', content: null, tool_calls: [call('c1'), call('c2')] },
    { role: 'tool', tool_call_id: 'c2', content: 'two' },
    { role: 'tool', tool_call_id: 'c1', content: [{ type: 'text', text: 'one' }] },
    { role: 'assistant', content: 'Done', reasoning_content: 'Well.' },
    {
      role: 'user',
      content: [
        { type: 'text', text: 'Look' },
        { type: 'image_url', image_url: { url: 'data:image/png;base64,aGk=' } },
      ],
    },
    { role: 'assistant', content: 'Seen', tool_calls: [call('c1')] },
  ])
}

function anthropicFile(): string[] {
  return written([
    { role: 'user', content: 'Hi' },
    {
      role: 'assistant',
      content: [
        { type: 'thinking', thinking: 'Look.', signature: 'c2ln' },
        { type: 'tool_use', id: 'c1', name: 'bash', input: {} },
      ],
    },
    {
      role: 'user',
      content: [
        { type: 'tool_result', tool_use_id: 'c1', content: 'one', is_error: true },
        { type: 'text', text: 'Go on' },
      ],
    },
    { role: 'assistant', content: [{ type: 'text', text: 'Done' }] },
    { role: 'user', content: [{ type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'aGk=' } }] },
  ])
}

function uiFile(): string[] {
  return written([
    {
      id: 'u1',
      role: 'user',
      parts: [
        { type: 'text', text: 'Hi' },
        { type: 'file', mediaType: 'image/png', url: 'data:image/png;base64,aGk=' },
      ],
    },
    {
      id: 'a1',
      role: 'assistant',
      parts: [
        { type: 'step-start' },
        { type: 'reasoning', text: 'Look.' },
        { type: 'tool-bash', toolCallId: 'c1', state: 'output-available', input: { a: 1 }, output: 'one' },
        { type: 'step-start' },
        { type: 'dynamic-tool', toolName: 'read', toolCallId: 'c2', state: 'output-error', input: {}, errorText: 'no' },
        { type: 'tool-bash', toolCallId: 'c3', state: 'input-available', input: {} },
        { type: 'text', text: 'Done', state: 'done' },
      ],
    },
    { id: 'u2', role: 'user', content: 'Old', toolInvocations: [] },
  ])
}

function modelFile(): string[] {
  return written([
    { role: 'user', content: [{ type: 'text', text: 'Hi' }] },
    {
      role: 'assistant',
      content: [
        { type: 'reasoning', text: 'Look.' },
        { type: 'tool-call', toolCallId: 'c1', toolName: 'bash', input: {} },
      ],
    },
    {
      role: 'tool',
      content: [{ type: 'tool-result', toolCallId: 'c1', toolName: 'bash', output: { type: 'text', value: 'one' } }],
    },
    { role: 'assistant', content: 'Done' },
  ])
}

const dsh = dshLog().text().trimEnd().split('\n')

const always = (): boolean => true

/** Every format that is imported. */
export const tangledFormats: readonly TangledFormat[] = [
  { name: 'Claude Code', importer: importClaudeCode, files: [tangled().lines], isByLine: always },
  { name: 'Codex', importer: importCodex, files: [codexFile(), bareCodexFile()], isByLine: always },
  { name: 'pi', importer: importPi, files: [piFile(1), piFile(3)], isByLine: always },
  { name: 'deepseek-harness', importer: importDeepSeekHarness, files: [dsh], isByLine: () => false },
  {
    name: 'messages',
    importer: importMessages,
    files: [chatFile(), anthropicFile(), uiFile(), modelFile()],
    isByLine: ({ length }) => length === 1,
  },
]

const agents: Readonly<Record<string, SampledAgent>> = {
  'Claude Code': 'claude-code',
  Codex: 'codex',
  pi: 'pi',
  'deepseek-harness': 'deepseek-harness',
}

/** Lines of the real files of an agent, where they are there. */
export function sampleFiles(name: string): string[][] {
  const agent = agents[name]
  if (agent === undefined) return []
  return samplesOf(agent).map((sample) => new TextDecoder().decode(sampleBytes(sample)).split('\n'))
}
