import {
  assistant,
  compacted,
  compaction,
  followUp,
  ofModel,
  result,
  same,
  thoughtful,
  tool,
  use,
  user,
} from './anthropic-requests.ts'
import { words, type Ask, type Body, type Fixture } from './fixtures.ts'

/** What the server seals comes back as it was, where it was. */
export const signedFixtures: readonly Fixture[] = [
  ...[
    followUp(([, ...rest]) => [{ type: 'thinking', thinking: 'first', signature: 'bm9uc2Vuc2U=' }, ...rest]),
    followUp(([first, ...rest]) => [{ ...first, thinking: 'edited' }, ...rest]),
    followUp(([first, second, ...rest]) => [second!, first!, ...rest]),
    followUp(([, second, ...rest]) => [second!, ...rest]),
  ].map((refused): Fixture => ({
    rule: 'A23.verbatim',
    options: { script: () => ({ blocks: thoughtful }) },
    refused,
    accepted: followUp((content) => content.filter(({ type }) => type === 'tool_use')),
    error: {
      message: words(
        '`thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified. These blocks must remain as they were in the original response.',
      ),
    },
  })),
  {
    rule: 'A24',
    refused: ofModel('claude-opus-4-5', {
      thinking: { type: 'enabled', budget_tokens: 50 },
      messages: [user('go'), assistant([use('a')]), user([result('a')])],
    }),
    accepted: ofModel('claude-opus-4-5', {
      thinking: { type: 'enabled', budget_tokens: 50 },
      messages: [user('go'), assistant([use('a')]), user([result('a')]), assistant('so'), user('on')],
    }),
    error: {
      message:
        'messages.1.content.0.type: Expected `thinking` or `redacted_thinking`, but found `tool_use`. When `thinking` is enabled, a final `assistant` message must start with a thinking block',
    },
  },
  ...[
    followUp((content) => content, { system: 'now be brief' }),
    followUp((content) => content, { tools: [tool('read')] }),
    async (ask: Ask): Promise<Body> => {
      const { messages, ...rest } = await same(ask)
      return { ...rest, messages: [user('hi there'), ...(messages as Body[]).slice(1)] }
    },
  ].map((refused): Fixture => ({
    rule: 'A25',
    options: { script: () => ({ blocks: thoughtful }) },
    refused,
    accepted: same,
    error: {
      message:
        'messages.1.content.0: Invalid `signature` in `thinking` block. The block is bound to a different conversation. Remove the block, or set `thinking.block_binding.prefix_mismatch_behavior` to "drop_block".',
    },
  })),
  ...(
    [
      [compacted((block) => [block, block]), 'compaction_block_ambiguous'],
      [compacted((block) => [block], user('before')), 'compaction_block_misplaced'],
      [compacted((block) => [{ ...block, content: 'what was not said' }]), 'compaction_content_mismatch'],
    ] as const
  ).map(([refused, code]): Fixture => ({
    rule: 'A34',
    options: { script: () => ({ blocks: compaction }) },
    refused,
    accepted: compacted((block) => [block]),
    error: { details: { error_code: code } },
  })),
]
