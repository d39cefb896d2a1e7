import { createHash } from 'node:crypto'
import { appendFileSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { stringifyEvent } from '@palimpsest/session'
import { afterAll, describe, expect, it } from 'vitest'
import { migrateFile, openAnyVersion } from '../src/index.ts'
import { type MigrationFiles, nodeFiles } from '../src/files.ts'
import { OldLog, streamed, textBytes } from './fixtures.ts'
import { refusal } from './support.ts'

const made: string[] = []
afterAll(() => {
  for (const path of made) rmSync(path, { recursive: true, force: true })
})

function oldText(): string {
  const log = new OldLog()
  log.startTurn()
  log.startStep()
  log.user('Hello')
  log.answer([streamed('text', ['Hi', ' there'])])
  log.endStep()
  log.endTurn()
  return log
    .rows({ packed: true })
    .map((row) => `${JSON.stringify(row)}\n`)
    .join('')
}

function stored(name = 'session.jsonl', text = oldText()): { readonly directory: string; readonly path: string } {
  const directory = mkdtempSync(join(tmpdir(), 'palimpsest-format-'))
  made.push(directory)
  const path = join(directory, name)
  writeFileSync(path, text)
  return { directory, path }
}

const openFile = (path: string): ReturnType<typeof openAnyVersion> =>
  openAnyVersion({ name: 'x', bytes: () => textBytes(readFileSync(path)) })

describe('migrateFile', () => {
  it.each([
    ['session.jsonl', 'session.palimpsest.v3.jsonl'],
    ['session.v1.jsonl', 'session.palimpsest.v3.jsonl'],
    ['other', 'other.palimpsest.v3.jsonl'],
    // The longest name that a successor can have.
    [`${'n'.repeat(235)}.v2.jsonl`, `${'n'.repeat(235)}.palimpsest.v3.jsonl`],
  ])('names the successor of %s %s', async (name, successor) => {
    const { directory, path } = stored(name)
    const text = readFileSync(path)
    const migration = await migrateFile(path)
    expect(migration).toMatchObject({
      source: name,
      from: 0,
      id: 'old',
      successor: join(directory, successor),
      messages: 2,
    })
    expect(migration.sha256).toBe(createHash('sha256').update(text).digest('hex'))
    expect(readFileSync(path)).toEqual(text)
    expect(readdirSync(directory).sort()).toEqual([name, successor].sort())
  })

  it('writes canonical lines, the last of them with the commit mark, which open as the same events', async () => {
    const { path } = stored()
    const { successor, events } = await migrateFile(path)
    const [, ...lines] = readFileSync(successor, 'utf8').split('\n')
    const [old, written] = [await openFile(path), await openFile(successor)]
    expect(written).toMatchObject({ from: 3, isOurs: true, notes: [] })
    expect([written.header, written.events]).toEqual([old.header, old.events])
    const canonical = old.events.map(stringifyEvent)
    expect(lines).toEqual([...canonical.slice(0, -1), `${canonical.at(-1)} `, ''])
    expect(events).toBe(old.events.length)
  })

  it('leaves a successor that is there alone', async () => {
    const { path } = stored()
    const { successor } = await migrateFile(path)
    const text = readFileSync(successor)
    appendFileSync(path, `${JSON.stringify({ type: 'todo/write', seq: 11, time: 1, data: {} })}\n`)
    expect(await refusal(migrateFile(path))).toMatchObject({ code: 'format/exists' })
    expect(readFileSync(successor)).toEqual(text)
  })

  it('leaves a successor alone that another process published meanwhile', async () => {
    const { directory, path } = stored()
    const files = { ...nodeFiles, isTaken: () => Promise.resolve(false) }
    writeFileSync(join(directory, 'session.palimpsest.v3.jsonl'), 'theirs')
    expect(await refusal(migrateFile(path, { files }))).toMatchObject({ code: 'format/exists' })
    expect(readdirSync(directory)).toHaveLength(2)
    expect(readFileSync(join(directory, 'session.palimpsest.v3.jsonl'), 'utf8')).toBe('theirs')
  })

  it('refuses a log of ours, and a source that grows while it is read', async () => {
    const { directory, path } = stored()
    const { successor } = await migrateFile(path)
    expect(await refusal(migrateFile(successor))).toMatchObject({ code: 'format/ours' })
    rmSync(successor)
    const files: MigrationFiles = {
      ...nodeFiles,
      create: (name) => {
        appendFileSync(path, '{')
        return nodeFiles.create(name)
      },
    }
    expect(await refusal(migrateFile(path, { files }))).toMatchObject({ code: 'source/changed' })
    expect(readdirSync(directory)).toEqual(['session.jsonl'])
  })

  it('publishes nothing that the disk did not keep as it was written', async () => {
    const { directory, path } = stored()
    const files: MigrationFiles = {
      ...nodeFiles,
      create: async (name) => {
        const file = await nodeFiles.create(name)
        const write = (bytes: Uint8Array): Promise<void> =>
          file.write(Buffer.from(Buffer.from(bytes).toString().replace('Hello', 'Hallo')))
        return { ...file, write }
      },
    }
    expect(await refusal(migrateFile(path, { files }))).toMatchObject({ code: 'format/refused' })
    expect(readdirSync(directory)).toEqual(['session.jsonl'])
  })

  it('leaves no successor or a whole one, wherever the process dies', async () => {
    const text = oldText()
    const whole = readFileSync((await migrateFile(stored().path)).successor, 'utf8')
    const outcomes = new Set<string>()
    for (let calls = 0, isOver = false; !isOver; calls += 1) {
      const { directory, path } = stored('session.jsonl', text)
      isOver = await migrateFile(path, { files: dyingAfter(calls) }).then(
        () => true,
        () => false,
      )
      expect(readFileSync(path, 'utf8')).toBe(text)
      const found = readdirSync(directory).filter((name) => name.endsWith('.v3.jsonl'))
      for (const name of found) expect(readFileSync(join(directory, name), 'utf8')).toBe(whole)
      outcomes.add(`${isOver ? 'done' : 'dead'}, ${found.length}`)
    }
    expect(outcomes).toEqual(new Set(['dead, 0', 'dead, 1', 'done, 1']))
  })
})

/** The disk of a process that dies after so many calls: a write that it dies in leaves half its bytes, and nothing comes later. */
function dyingAfter(calls: number): MigrationFiles {
  let left = calls
  const live = (): void => {
    left -= 1
    if (left < 0) throw new Error('the process died')
  }
  const alive = async <T>(run: () => Promise<T>): Promise<T> => {
    live()
    return run()
  }
  return {
    async *read(path) {
      live()
      yield* nodeFiles.read(path)
    },
    create: (path) =>
      alive(async () => {
        const file = await nodeFiles.create(path)
        return {
          write: async (bytes) => {
            if (left === 0) await file.write(bytes.subarray(0, bytes.length / 2))
            await alive(() => file.write(bytes))
          },
          sync: () => alive(file.sync),
          close: file.close,
        }
      }),
    link: (existing, path) => alive(() => nodeFiles.link(existing, path)),
    unlink: (path) => alive(() => nodeFiles.unlink(path)),
    isTaken: (path) => alive(() => nodeFiles.isTaken(path)),
    syncDirectory: (path) => alive(() => nodeFiles.syncDirectory(path)),
  }
}
