import type fc from 'fast-check'
import { expect } from 'vitest'
import { samplesOf } from '@palimpsest/testkit'
import type { SampledAgent } from '@palimpsest/testkit'
import { importClaudeCode, importCodex, importDeepSeekHarness, importMessages, importPi } from '../src/index.ts'
import type { ImportedSession } from '../src/index.ts'
import { claudeEdits } from './claude-code-edits.ts'
import { tangledRollout } from './codex-fixture.ts'
import { dshLog } from './deepseek-harness-fixture.ts'
import { tangled } from './fixture.ts'
import type { Edit } from './fuzz.ts'
import { expectSound, expectSoundSessions, linesOf } from './import-laws.ts'
import { messageFiles } from './message-files.ts'
import { tangledPi } from './pi-fixture.ts'
import { sampleBytes } from './support.ts'
import type { Importer } from './support.ts'

/** One format with files of it that hold most of what an importer can trip over. */
export interface TangledFormat {
  readonly importer: Importer
  /** Written by us, as lists of lines. */
  readonly files: readonly (readonly string[])[]
  /** What must hold of an import of any bytes. */
  readonly check: (imported: readonly ImportedSession[], bytes: Uint8Array) => void
  /** Changes that only this format can trip over. */
  readonly edits?: fc.Arbitrary<Edit>
}

const at = (second: number): string => new Date(Date.UTC(2026, 0, 1) + second * 1000).toISOString()
const written = (rows: readonly object[]): string[] => rows.map((row) => JSON.stringify(row))

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

function oldPiFile(): string[] {
  let count = 0
  const entry = (type: string, members: object): object => {
    count += 1
    return { type, timestamp: at(count), ...members }
  }
  const user = (text: string): object =>
    entry('message', { message: { role: 'user', content: [{ type: 'text', text }], timestamp: count } })
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
  return written([
    {
      type: 'session',
      id: 'p-1',
      timestamp: at(0),
      cwd: '/home/user',
      provider: 'anthropic',
      modelId: 'claude-x',
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
    entry('compaction', { summary: 'So far: two files.', tokensBefore: 100, firstKeptEntryIndex: 8 }),
    user('And now'),
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

const dsh = dshLog().text().trimEnd().split('\n')

/** Elements of a list are no lines: each is accounted for under its own number. */
function expectElements(imported: readonly ImportedSession[]): void {
  expectSoundSessions(imported)
  for (const { session, report } of imported) {
    expect(new Set(linesOf(session.events)).size).toBe(report.lines.total - report.lines.blank)
  }
}

/** Every format that is imported. */
export const formats = {
  'Claude Code': { importer: importClaudeCode, files: [tangled().lines], check: expectSound, edits: claudeEdits },
  Codex: { importer: importCodex, files: [tangledRollout().lines, bareCodexFile()], check: expectSound },
  pi: { importer: importPi, files: [tangledPi().lines, oldPiFile()], check: expectSound },
  'deepseek-harness': { importer: importDeepSeekHarness, files: [dsh], check: expectSoundSessions },
  messages: { importer: importMessages, files: [chatFile(), ...messageFiles()], check: expectElements },
} satisfies Readonly<Record<string, TangledFormat>>
export type FormatName = keyof typeof formats

const agents: { readonly [Name in FormatName]?: SampledAgent } = {
  'Claude Code': 'claude-code',
  Codex: 'codex',
  pi: 'pi',
  'deepseek-harness': 'deepseek-harness',
}

/** Lines of the real files of an agent, where they are there. */
export function sampleFiles(name: FormatName): string[][] {
  const agent = agents[name]
  if (agent === undefined) return []
  return samplesOf(agent).map((sample) => new TextDecoder().decode(sampleBytes(sample)).split('\n'))
}
