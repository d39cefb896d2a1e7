import { mkdir, mkdtemp, rm, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  detectTranscript,
  fileSource,
  findClaudeCodeSessions,
  importClaudeCode,
  importTranscript,
} from '../src/index.ts'
import { Fixture, tangled } from './fixture.ts'
import { MemorySink } from './support.ts'

let home = ''
beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'palimpsest-transcripts-'))
})
afterAll(async () => {
  await rm(home, { recursive: true, force: true })
})

test('a format is told by the first line that speaks for one', () => {
  const format = (...lines: string[]) => detectTranscript(lines)?.format
  expect(format('{"type":"session","format":"palimpsest","createdAt":1}')).toBe('palimpsest')
  expect(format('{"type":"session","createdAt":1}')).toBe('deepseek-harness')
  expect(format('{"type":"session","timestamp":"x"}')).toBe('pi')
  expect(format('{"type":"session_meta","payload":{}}')).toBe('codex')
  expect(format('{"id":"x","instructions":null,"timestamp":"x"}')).toBe('codex')
  expect(format('{"sessionId":"x","projectHash":"y"}')).toBe('gemini')
  expect(format('{"kind":"MessageEvent"}')).toBe('openhands')
  expect(format('{"info":{},"messages":[]}')).toBe('opencode')
  expect(format('// comment', '{"type":"mode"}', '{"uuid":"u","parentUuid":null}')).toBe('claude-code')
  expect(format('{"type":"summary","leafUuid":"u"}')).toBe('claude-code')
  expect(format('hello', '{}', '[1]')).toBeUndefined()
  expect(detectTranscript(['{"uuid":"u","parentUuid":null}'])?.isSupported).toBe(true)
  expect(format('{"role":"user","content":"Hello"}')).toBe('messages')
  expect(format('[{"role":"user","content":"Hello"}]')).toBe('messages')
  expect(detectTranscript(['{"type":"session_meta"}'])?.isSupported).toBe(true)
  expect(detectTranscript(['{"info":{},"messages":[]}'])?.isSupported).toBe(false)
})

test('a file of another or of no format is refused with a code, before anything is imported', async () => {
  const sink = { attachments: () => new MemorySink() }
  const first = async (text: string) => {
    const path = join(home, 'other.jsonl')
    await writeFile(path, text)
    return importTranscript(fileSource(path), sink).next()
  }
  await expect(first('{"kind":"MessageEvent"}\n')).rejects.toMatchObject({ code: 'format/unsupported' })
  await expect(first('{\n"info":{},\n"messages":[]\n}')).rejects.toMatchObject({ code: 'format/unsupported' })
  await expect(first('[\n{"role":"user",\n"content":"Hello"}\n]')).resolves.toMatchObject({
    value: { report: { source: 'other.jsonl', messages: 1 } },
  })
  await expect(first('just text\n')).rejects.toMatchObject({ code: 'format/unknown' })
  await expect(first(tangled().lines.join('\n'))).resolves.toMatchObject({
    value: { report: { source: 'other.jsonl' } },
  })
})

test('a file is read once: nothing that is written meanwhile can mix two states of it', async () => {
  const file = new Fixture()
  file.user('One')
  file.text('m1', 'Two')
  let reads = 0
  const source = {
    name: 'live.jsonl',
    async *bytes() {
      reads += 1
      yield file.bytes()
      file.user('Three')
    },
  }
  const { value } = await importClaudeCode(source, { attachments: () => new MemorySink() }).next()
  expect([reads, value?.report.messages]).toEqual([1, 2])
})

test('the user’s own sessions are listed newest first, with their subagents', async () => {
  const project = join(home, '.claude/projects/-home-user')
  await mkdir(join(project, 's-1/subagents/workflow'), { recursive: true })
  const file = new Fixture()
  file.user('Caveat', { isMeta: true })
  file.user('<command-name>/clear</command-name>')
  file.user([{ type: 'text', text: 'The first prompt' }])
  await writeFile(join(project, 's-1.jsonl'), file.bytes())
  await writeFile(join(project, 's-2.jsonl'), '{"type":"summary","leafUuid":"x"}\n')
  await writeFile(join(project, 'agent-a1.jsonl'), file.bytes())
  await writeFile(join(project, 's-1/subagents/workflow/agent-a2.jsonl'), file.bytes())
  await writeFile(join(project, 'notes.txt'), 'no session')
  await utimes(join(project, 's-2.jsonl'), 1000, 1000)
  const found = await findClaudeCodeSessions({ home })
  expect(found).toMatchObject([
    {
      path: join(project, 's-1.jsonl'),
      sessionId: 's-1',
      cwd: '/home/user',
      byteLength: file.bytes().length,
      firstPrompt: 'The first prompt',
      agentPaths: [join(project, 'agent-a1.jsonl'), join(project, 's-1/subagents/workflow/agent-a2.jsonl')],
    },
    { sessionId: 's-2', modifiedAt: 1_000_000, agentPaths: [] },
  ])
  expect(found[1]).not.toHaveProperty('firstPrompt')
  expect(await findClaudeCodeSessions({ home: '/nowhere', env: { CLAUDE_CONFIG_DIR: join(home, '.claude') } })).toEqual(
    found,
  )
  expect(await findClaudeCodeSessions({ home: '/nowhere', env: { CLAUDE_CONFIG_DIR: '' } })).toEqual([])
})
