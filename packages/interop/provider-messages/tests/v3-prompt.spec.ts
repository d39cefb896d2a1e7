import type { LanguageModelV4Prompt, SharedV4FileData } from '@ai-sdk/provider'
import { describe, expect, it } from 'vitest'
import { toV3Prompt } from '../src/ai-sdk/v3-prompt.ts'

const bytes = new Uint8Array([0, 1, 2])
const url = new URL('https://files.example/1')
const files: SharedV4FileData[] = [
  { type: 'data', data: bytes },
  { type: 'data', data: 'AAEC' },
  { type: 'url', url },
  { type: 'text', text: 'héllo' },
]
const types = ['image/png', 'image', 'application/pdf']
const parts = types.flatMap((mediaType) => files.map((data) => ({ type: 'file' as const, mediaType, data })))

/** The same files in V3. A type without a subtype gets one. */
const olderParts = ['image/png', 'image/*', 'application/pdf'].flatMap((mediaType) =>
  [bytes, 'AAEC', url, new TextEncoder().encode('héllo')].map((data) => ({ type: 'file', mediaType, data })),
)

describe('a prompt for models of the V3 interface', () => {
  it('holds every kind of file that a V4 prompt may hold, as bytes, base64 or address', () => {
    const call = { type: 'tool-call' as const, toolCallId: 'c', toolName: 'shot', input: {} }
    const prompt: LanguageModelV4Prompt = [
      { role: 'user', content: [{ type: 'text', text: 'See:' }, ...parts] },
      { role: 'assistant', content: [...parts, call] },
    ]
    expect(toV3Prompt(prompt)).toEqual([
      { role: 'user', content: [{ type: 'text', text: 'See:' }, ...olderParts] },
      { role: 'assistant', content: [...olderParts, call] },
    ])
  })

  it.each(['tool', 'assistant'] as const)('tells images from other files in a result of the %s', (role) => {
    const providerOptions = { scripted: { keep: true } }
    const names = { type: 'tool-result' as const, toolCallId: 'c', toolName: 'shot' }
    const text = { type: 'text' as const, text: 'See:' }
    const value = [text, ...parts.map((part) => ({ ...part, filename: 'one', providerOptions }))]
    expect(toV3Prompt([{ role, content: [{ ...names, output: { type: 'content', value } }] }])).toEqual([
      {
        role,
        content: [
          {
            ...names,
            output: {
              type: 'content',
              value: [
                text,
                ...['image/png', 'image/*'].flatMap((mediaType) => [
                  { type: 'image-data', mediaType, data: 'AAEC', providerOptions },
                  { type: 'image-data', mediaType, data: 'AAEC', providerOptions },
                  { type: 'image-url', url: url.href, providerOptions },
                  { type: 'image-data', mediaType, data: 'aMOpbGxv', providerOptions },
                ]),
                ...['AAEC', 'AAEC', undefined, 'aMOpbGxv'].map((data) =>
                  data === undefined
                    ? { type: 'file-url', url: url.href, providerOptions }
                    : { type: 'file-data', mediaType: 'application/pdf', data, filename: 'one', providerOptions },
                ),
              ],
            },
          },
        ],
      },
    ])
  })

  it('leaves out what V3 has no part for, and a message that held nothing else', () => {
    const data = { type: 'data' as const, data: 'AAEC' }
    const unknown = [
      { type: 'custom' as const, kind: 'scripted.note' as const },
      { type: 'reasoning-file' as const, mediaType: 'image/png', data },
    ]
    const said = { role: 'assistant' as const, content: [{ type: 'text' as const, text: 'So.' }] }
    const prompt: LanguageModelV4Prompt = [
      { role: 'assistant', content: unknown },
      { role: 'assistant', content: [...unknown, ...said.content] },
    ]
    expect(toV3Prompt(prompt)).toEqual([said])
  })

  it('is the prompt itself where it holds text and calls alone', () => {
    const output = { type: 'text' as const, value: '3' }
    const prompt: LanguageModelV4Prompt = [
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: [{ type: 'text', text: 'Add.' }] },
      {
        role: 'assistant',
        content: [
          { type: 'reasoning', text: 'Hm.' },
          { type: 'tool-call', toolCallId: 'c', toolName: 'add', input: {} },
        ],
      },
      { role: 'tool', content: [{ type: 'tool-result', toolCallId: 'c', toolName: 'add', output }] },
    ]
    expect(toV3Prompt(prompt)).toEqual(prompt)
  })

  it('cannot hold a file that only its provider has', () => {
    const data: SharedV4FileData = { type: 'reference', reference: { openai: 'file-1' } }
    const part = { type: 'file' as const, mediaType: 'image/png', data }
    expect(() => toV3Prompt([{ role: 'user', content: [part] }])).toThrow(TypeError)
  })
})
