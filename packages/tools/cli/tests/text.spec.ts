import { describe, expect, it } from 'vitest'
import { Progress } from '../src/io.ts'
import { styleFor } from '../src/render/style.ts'
import { table } from '../src/render/table.ts'
import { clip, count, pad, printable, widthOf, wrap } from '../src/render/text.ts'

describe('text for terminals', () => {
  it('shows control characters, overrides of direction and lone surrogates by a stand-in', () => {
    expect(printable('a\u001B[2Jb\u0000\u0085\u202Ec\uD800')).toBe('a␛[2Jb␀��c�')
    expect(printable('tab\tand\nline, 日本 and 👩‍👩‍👧 stay')).toBe('tab\tand\nline, 日本 and 👩‍👩‍👧 stay')
  })

  it('counts columns, not code units', () => {
    expect(widthOf('日本')).toBe(4)
    expect(widthOf('👩‍👩‍👧!')).toBe(3)
    expect(widthOf('\u001B[31mred\u001B[39m')).toBe(3)
    expect(pad('日', 4)).toBe('日  ')
  })

  it('clips with an ellipsis, never in the middle of a character', () => {
    expect(clip('abcdef', 6)).toBe('abcdef')
    expect(clip('abcdef', 4)).toBe('abc…')
    expect(clip('日本語', 4)).toBe('日…')
  })

  it('wraps at spaces', () => {
    expect(wrap('one two three', 8)).toEqual(['one two', 'three'])
    expect(wrap('unbreakable', 4)).toEqual(['unbreakable'])
  })

  it('counts in words', () => {
    expect([count(1, 'event'), count(0, 'event'), count(1234, 'entry'), count(2, 'branch')]).toEqual([
      '1 event',
      '0 events',
      '1,234 entries',
      '2 branches',
    ])
  })

  it('fits tables to the terminal', () => {
    const rows = [{ name: 'a-rather-long-name', text: 'some text that is long' }]
    const shown = table(
      rows,
      [
        { title: 'name', max: 8, text: ({ name }) => name },
        { title: 'text', text: ({ text }) => text },
      ],
      24,
      (_, text) => text,
    )
    expect(shown).toBe('name      text\na-rathe…  some text tha…\n')
  })
})

describe('styles', () => {
  const io = { isStdoutTty: true, env: {} } as Parameters<typeof styleFor>[0]

  it('are for terminals', () => {
    expect(styleFor({ ...io, isStdoutTty: false })('red', 'x')).toBe('x')
    expect(styleFor({ ...io, env: { NO_COLOR: '1' } })('red', 'x')).toBe('x')
    expect(styleFor({ ...io, env: { TERM: 'dumb' } })('red', 'x')).toBe('x')
    expect(styleFor(io)('red', 'x')).toBe('\u001B[31mx\u001B[39m')
  })

  it('end with each line', () => {
    expect(styleFor(io)('red', 'x\n\ny')).toBe('\u001B[31mx\u001B[39m\n\n\u001B[31my\u001B[39m')
  })
})

describe('progress', () => {
  function written(isStderrTty: boolean, times: readonly number[]): string {
    let [text, now] = ['', 0]
    const progress = new Progress({ stderr: (part) => (text += part), isStderrTty }, () => now)
    for (const time of times) {
      now = time
      progress.show(`at ${time}`)
    }
    progress.done()
    return text
  }

  it('is shown for work over a second, and gone when it is done', () => {
    expect(written(true, [10, 900])).toBe('')
    expect(written(true, [10, 1200, 1210, 1400])).toBe('\r\u001B[2Kat 1200\r\u001B[2Kat 1400\r\u001B[2K')
  })

  it('is for terminals', () => {
    expect(written(false, [10, 1200])).toBe('')
  })
})
