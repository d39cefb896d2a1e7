import { appendFileSync, mkdirSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { sessionId, type SessionHeader } from '@palimpsest/session'
import type { SessionStat } from '@palimpsest/session-persistence'
import { spyFileSystem } from '@palimpsest/testkit'
import { describe, expect, it } from 'vitest'
import { jsonlPersistence, nodeFileSystem } from '../src/index.ts'
import { headerLine, headerOf, id, plant, record, scratch } from './support.ts'

const mebibyte = 1024 * 1024

function systemRecord(seq: number, bytes: number): string {
  return `{"type":"system/message","seq":${seq},"time":${1_000 + seq},"surfaceOp":"append","data":{"message":{"text":"${'s'.repeat(bytes)}"}}}`
}

async function statOf(content: string | Buffer): Promise<SessionStat | undefined> {
  const root = scratch()
  plant(root, content)
  return jsonlPersistence({ root }).stat(id)
}

async function listed(root: string): Promise<SessionStat[]> {
  const found: SessionStat[] = []
  for await (const stat of jsonlPersistence({ root }).list()) found.push(stat)
  return found
}

describe('stat', () => {
  it('reads head and tail only', async () => {
    const root = scratch()
    plant(
      root,
      `${headerLine}\n${record(0, 'the prompt')}\n${[1, 2, 3].map((seq) => `${systemRecord(seq, 4 * mebibyte)}\n`).join('')}${record(4)} \n`,
    )
    const { fileSystem, calls } = spyFileSystem(nodeFileSystem)
    expect(await jsonlPersistence({ root, fileSystem }).stat(id)).toMatchObject({
      eventCount: 5,
      updatedAt: 1_004,
      firstPrompt: 'the prompt',
      byteLength: expect.any(Number) as number,
    })
    const read = calls
      .filter(({ operation }) => operation === 'read')
      .reduce((sum, { args }) => sum + Number(args[2]), 0)
    expect(read).toBeLessThan(mebibyte)
  })

  it('finds the first prompt behind lines of any length', async () => {
    expect(
      await statOf(`${headerLine}\n${systemRecord(0, 9 * mebibyte)}\n${systemRecord(1, 10)}\n${record(2, 'behind')}\n`),
    ).toMatchObject({ firstPrompt: 'behind', eventCount: 3 })
  })

  it('takes the first prompt from the beginning of a message that is too long to parse', async () => {
    const stat = await statOf(`${headerLine}\n${record(0, `say "${'é'.repeat(2 * mebibyte)}`)}\n`)
    expect(stat?.firstPrompt).toBe(`say "${'é'.repeat(195)}`)
  })

  it('passes over what plugins and the model said, and over blocks without text', async () => {
    const plugin = record(0, 'not me').replace('"kind":"user"', '"kind":"plugin","plugin":"p"')
    const image = record(1).replace('{"type":"text","text":"m1"}', '{"type":"image","attachment":{}}')
    expect(await statOf(`${headerLine}\n${plugin}\n${image}\n${record(2, 'me')}\n`)).toMatchObject({
      firstPrompt: 'me',
    })
    expect(await statOf(`${headerLine}\n${plugin}\n`)).not.toHaveProperty('firstPrompt')
  })

  it('counts by the last record that is whole, whatever follows it', async () => {
    const log = `${headerLine}\n${record(0)}\n${record(1)}`
    for (const [tail, count] of [
      ['', 2],
      ['\n', 2],
      [' \n', 2],
      ['\n{"type":"us', 2],
      [`\n${'\0'.repeat(200_000)}`, 2],
      ['\n\n\n', 2],
      [`\n${record(2).slice(0, 30)}${record(2)}\n`, 3],
      ['\r\n', 2],
    ] as const) {
      expect(await statOf(log + tail), JSON.stringify(tail.slice(0, 40))).toMatchObject({
        eventCount: count,
        updatedAt: 999 + count,
      })
    }
    expect(await statOf(`${headerLine}\n`)).toMatchObject({ eventCount: 0, updatedAt: 1_000 })
    expect(await statOf(headerLine)).toMatchObject({ eventCount: 0 })
  })

  it('reads seq and time of a last record that is too long to parse from its beginning', async () => {
    expect(await statOf(`${headerLine}\n${record(0)}\n${systemRecord(1, 2 * mebibyte)} \n`)).toMatchObject({
      eventCount: 2,
      updatedAt: 1_001,
    })
    expect(await statOf(`${headerLine}\n${record(0)}\n${systemRecord(1, 2 * mebibyte).slice(0, -1)}`)).toMatchObject({
      eventCount: 1,
    })
  })

  it('knows no session where there is only an empty log', async () => {
    expect(await statOf('')).toBeUndefined()
    expect(await statOf(headerLine.slice(0, 10))).toBeUndefined()
  })

  it('has a new revision when a record of equal length takes the place of another', async () => {
    const root = scratch()
    const log = plant(root, `${headerLine}\n${record(0, 'a')}\n`)
    const store = jsonlPersistence({ root })
    const first = await store.stat(id)
    truncateSync(log, headerLine.length + 1)
    appendFileSync(log, `${record(0, 'b')}\n`)
    expect((await store.stat(id))?.revision).not.toBe(first?.revision)
  })
})

describe('list', () => {
  it('leaves out what cannot be read and shows the rest', async () => {
    const root = scratch()
    plant(root, `${headerLine}\n${record(0)}\n`)
    for (const [name, content] of [
      ['newer', headerLine.replace('"version":3', '"version":4')],
      ['garbage', 'not json\n'],
      ['empty', ''],
      ['list', '[]\n'],
    ]) {
      mkdirSync(join(root, '_', name ?? ''))
      writeFileSync(join(root, '_', name ?? '', 'session.v3.jsonl'), content ?? '')
    }
    mkdirSync(join(root, '_', 'no-log'))
    writeFileSync(join(root, 'stray'), '')
    expect((await listed(root)).map(({ header }) => header.id)).toEqual(['a'])
  })

  it('is empty where there is no root', async () => {
    expect(await listed(join(scratch(), 'nowhere'))).toEqual([])
  })

  it('shows every session of every project once', async () => {
    const root = scratch()
    const store = jsonlPersistence({ root })
    const headers: SessionHeader[] = Array.from({ length: 25 }, (_, index) =>
      headerOf({ id: sessionId(`s${index}`), createdAt: index, cwd: `/w/${index % 3}` }),
    )
    for (const header of headers) {
      const handle = await store.create(header)
      await handle.flush()
      await handle.close()
    }
    expect((await listed(root)).map(({ header }) => header)).toEqual(headers.toReversed())
  })
})
