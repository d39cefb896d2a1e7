import { Session, stringifyHeader } from '@palimpsest/session'
import { describe, expect, it } from 'vitest'
import { fresh } from './sessions.ts'

describe('a session header', () => {
  it('is made once, frozen, with what was given and what is given always', () => {
    const session = Session.create({ now: () => 7 })
    expect(session.header).toMatchObject({
      format: 'palimpsest',
      version: 3,
      createdAt: 7,
      isSeeded: false,
      delegationDepth: 0,
    })
    expect(session.id).toMatch(/^[0-9a-f-]{36}$/)
    expect(Object.isFrozen(session.header)).toBe(true)
    expect(Object.keys(fresh().header)).not.toContain('cwd')
  })

  it('keeps members it does not know through a round trip', () => {
    const { header } = fresh()
    const line = stringifyHeader({ ...header, future: { a: 1 } } as typeof header)
    expect(line.startsWith('{"type":"session","format":"palimpsest","version":3,')).toBe(true)
    const again = Session.restore({ header: JSON.parse(line) as typeof header, events: [], inheritedEventCount: 0 })
    expect(stringifyHeader(again.header)).toBe(line)
  })

  it.each<[string, string, unknown]>([
    ['a newer version', 'header/newer-version', { format: 'palimpsest', version: 4 }],
    ['an older one', 'header/invalid', { format: 'palimpsest', version: 2 }],
    ['another format', 'header/invalid', { format: 'other', version: 4 }],
    ['no object', 'header/invalid', 'session'],
    ['nothing', 'header/invalid', null],
    ['what is not JSON', 'header/invalid', { id: () => 'x' }],
    ['an empty id', 'header/invalid', { ...fresh().header, id: '' }],
    ['a relative cwd', 'header/invalid', { ...fresh().header, cwd: 'src' }],
    [
      'an absolute import source',
      'header/invalid',
      { ...fresh().header, importedFrom: { agent: 'x', source: '/etc/x' } },
    ],
  ])('refuses %s', (_, code, header) => {
    expect(() => Session.restore({ header: header as never, events: [], inheritedEventCount: 0 })).toThrow(
      expect.objectContaining({ name: 'SessionError', code }),
    )
  })

  it('takes absolute paths of every platform', () => {
    for (const cwd of ['/srv', 'C:\\work', 'c:/work', '\\\\host\\share']) expect(fresh({ cwd }).header.cwd).toBe(cwd)
    expect(fresh({ importedFrom: { agent: 'claude-code', source: 'a/b.jsonl' } }).header.importedFrom?.source).toBe(
      'a/b.jsonl',
    )
  })
})
