import { expect, it } from 'vitest'
import { claudeFamily, claudeModel } from '../src/anthropic/models.ts'

it.each([
  ['claude-opus-4-8', 'opus', 4, 8],
  ['claude-sonnet-4-5-20250929', 'sonnet', 4, 5],
  ['claude-sonnet-4-20250514', 'sonnet', 4, 0],
  ['claude-sonnet-4-5@20250929', 'sonnet', 4, 5],
  ['us.anthropic.claude-haiku-5-5-20260901-v1:0', 'haiku', 5, 5],
  ['anthropic/Claude-Opus-4.5', 'opus', 4, 5],
  ['claude-fable-5-1', 'fable', 5, 1],
  ['claude-3-7-sonnet-20250219', 'sonnet', 3, 7],
  ['claude-3-opus-latest', 'opus', 3, 0],
  ['claude-2.1', '', 2, 1],
])('%s is line %s, version %i.%i', (id, line, major, minor) => {
  expect(claudeModel(id)).toEqual({ line, major, minor })
})

it('another model has no version and is a family of its own', () => {
  expect(claudeModel('gpt-5')).toBeUndefined()
  expect(claudeFamily('GPT-5')).toBe('gpt-5')
  expect(claudeFamily('claude-sonnet-4-5-20250929')).toBe(claudeFamily('claude-sonnet-4-5'))
})
