import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import {
  aiSdkRules,
  anthropicRules,
  anthropicUnjudged,
  deepSeekRules,
  deepSeekUnjudged,
  openAiChatRules,
  openAiChatUnjudged,
  openAiResponsesRules,
  openAiResponsesUnjudged,
} from '../src/index.ts'

it('the README lists every rule as the rules describe themselves; ~ marks portable ones', () => {
  const providers = [
    [anthropicRules, anthropicUnjudged],
    [openAiChatRules, openAiChatUnjudged],
    [openAiResponsesRules, openAiResponsesUnjudged],
    [deepSeekRules, deepSeekUnjudged],
    [aiSdkRules],
  ]
  const expected = providers.flat(2).map((rule) => {
    if ('reason' in rule) return [rule.id, 'not judged', rule.reason]
    return [rule.level === 'portable' ? `${rule.id} ~` : rule.id, rule.profile, rule.about]
  })
  const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8')
  const rows = readme.split('\n').filter((line) => /^\| (?:A|OC|OR|DS|AI)\d/.test(line))
  expect(
    rows.map((row) =>
      row
        .split('|')
        .slice(1, -1)
        .map((cell) => cell.trim()),
    ),
  ).toEqual(expected)
})
