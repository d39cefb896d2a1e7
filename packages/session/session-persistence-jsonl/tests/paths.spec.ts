import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { encodeSegment, projectKey, within } from '../src/paths.ts'

/** Any UTF-16 string, lone surrogates included, with the troublemakers more often. */
const anyString = fc.oneof(
  fc.array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 300 }).map((units) => String.fromCharCode(...units)),
  fc.string({
    unit: fc.constantFrom('a', 'A', '~', 'u', 'h', '0', '4', '1', '.', '/', '\\', '\0', ' ', 'é', '\ud800'),
  }),
  fc.constantFrom(
    '',
    '.',
    '..',
    'con',
    'CON',
    'nul',
    'com1',
    'lpt9',
    'aux',
    '~63on',
    '~',
    'a'.repeat(200),
    'a'.repeat(201),
  ),
)

/** What case-insensitive, normalising file systems take for one name. */
function folded(segment: string): string {
  return segment.normalize('NFC').toLowerCase()
}

describe('the encoding of ids', () => {
  it('is injective over all strings, also where case and normal form do not count', () => {
    const seen = new Map<string, string>()
    fc.assert(
      fc.property(anyString, (text) => {
        const segment = folded(encodeSegment(text))
        const before = seen.get(segment)
        seen.set(segment, text)
        return before === undefined || before === text
      }),
      { numRuns: 20_000 },
    )
  })

  it('makes different segments of any two different strings', () => {
    fc.assert(
      fc.property(
        anyString,
        anyString,
        (left, right) => (left === right) === (folded(encodeSegment(left)) === folded(encodeSegment(right))),
      ),
      { numRuns: 5_000 },
    )
  })

  it('makes one plain segment that every file system takes', () => {
    fc.assert(
      fc.property(anyString, (text) => {
        const segment = encodeSegment(text)
        expect(segment).toMatch(/^[a-z0-9_~-]+$/)
        expect(Buffer.byteLength(segment)).toBeLessThanOrEqual(200)
        expect(segment).not.toMatch(/^(con|prn|aux|nul|com[0-9]|lpt[0-9])$/)
      }),
      { numRuns: 5_000 },
    )
  })

  it('leaves common ids as they are', () => {
    expect(encodeSegment('0199f2a4-7c1b-7def-8123-456789abcdef')).toBe('0199f2a4-7c1b-7def-8123-456789abcdef')
    expect(encodeSegment('../A')).toBe('~2e~2e~2f~41')
    expect(encodeSegment('con')).toBe('~63on')
    expect(encodeSegment('\ud800')).toBe('~ud800')
  })
})

describe('the directory of a project', () => {
  it('is named for people and differs by working directory', () => {
    expect(projectKey('/home/me/My App')).toMatch(/^my-app-[0-9a-f]{16}$/)
    expect(projectKey('/home/you/My App')).not.toBe(projectKey('/home/me/My App'))
    expect(projectKey('C:\\work\\x')).toMatch(/^x-[0-9a-f]{16}$/)
    expect(projectKey('/')).toMatch(/^-[0-9a-f]{16}$/)
    expect(projectKey(undefined)).toBe('_')
  })
})

describe('a path', () => {
  it('that leads out of the root is refused before any file is touched', () => {
    for (const segments of [['..'], ['a', '..', '..', 'b'], ['/etc', '..', '..'], ['.'], ['a\0b']]) {
      expect(() => within('/root/store', ...segments)).toThrow(expect.objectContaining({ code: 'path/outside-root' }))
    }
    expect(within('/root/store', 'a', 'b')).toBe('/root/store/a/b')
    expect(within('/', 'a')).toBe('/a')
  })
})
