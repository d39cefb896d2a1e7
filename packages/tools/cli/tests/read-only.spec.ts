import { appendFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { logOf, palimpsest, said, scratch, storeEvents, treeOf, wholeTurn } from './support.ts'

const changing: ReadonlySet<string> = new Set([
  'import',
  'repair',
  'salvage',
  'fork',
  'migrate',
  'compact',
  'prune',
  'chat',
])

describe('a command whose name does not say so', () => {
  it('changes no byte below the root, whatever state the session is in', async () => {
    const root = scratch()
    await storeEvents(root, 'whole', wholeTurn())
    await storeEvents(root, 'interrupted', wholeTurn().slice(0, 5))
    await storeEvents(root, 'torn', wholeTurn())
    appendFileSync(logOf(root, 'torn'), '{"type":"turn/st')
    await storeEvents(root, 'corrupt', [said(0, 'one')])
    appendFileSync(logOf(root, 'corrupt'), `${JSON.stringify(said(4, 'five'))} \n`)
    const before = treeOf(root)
    const names = ['whole', 'interrupted', 'torn', 'corrupt', 'last', 'nobody']
    const lines = names.flatMap((name) => [
      ['show', name],
      ['surface', name],
      ['messages', name],
      ['messages', name, '--format', 'anthropic'],
      ['request', name],
      ['request', name, '3'],
      ['explain', name, '2'],
      ['diff', name, '--from', '2'],
      ['diff', name, 'whole'],
      ['stats', name],
      ['compact', name, '--preview'],
      ['prune', name, '--preview'],
      ['verify', name, '--streams'],
      ['export', name, '--to', 'openai-chat'],
      ['export', name, '--to', 'jsonl'],
    ])
    for (const line of [...lines, ['ls'], ['verify', '--all'], ['demo', '--help'], ['import']]) {
      await palimpsest(line, { root })
      expect([line, treeOf(root)]).toEqual([line, before])
    }
    const tried = new Set(lines.map(([name]) => name))
    const { out } = await palimpsest(['--help'])
    const all = [...out.matchAll(/^ {2}([a-z]+) \[?/gm)].map(([, name]) => name ?? '')
    expect(all.filter((name) => !tried.has(name) && !changing.has(name))).toEqual(['ls', 'demo'])
  })

  it('does not make a store that is not there', async () => {
    const root = `${scratch()}/nothing`
    for (const line of [['ls'], ['verify', '--all'], ['show'], ['import', '/nobody/has/this.jsonl']])
      await palimpsest(line, { root })
    expect(() => treeOf(root)).toThrow('ENOENT')
  })
})
