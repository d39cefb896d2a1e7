import { mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs'
import * as fs from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { faultFileSystem } from '../src/fs-fault.ts'
import { PowerLossRecorder } from '../src/fs-power-loss.ts'

interface File {
  write(buffer: Uint8Array, offset: number, length: number, position: number): Promise<number>
  datasync(): Promise<void>
  truncate(length: number): Promise<void>
  close(): Promise<void>
}

const disk = {
  open: async (path: string, flags: string): Promise<File> => {
    const handle = await fs.open(path, flags)
    return {
      write: async (...args) => (await handle.write(...args)).bytesWritten,
      datasync: () => handle.datasync(),
      truncate: (length) => handle.truncate(length),
      close: () => handle.close(),
    }
  },
  mkdir: (path: string): Promise<void> => fs.mkdir(path),
  link: (from: string, to: string): Promise<void> => fs.link(from, to),
  rename: (from: string, to: string): Promise<void> => fs.rename(from, to),
  unlink: (path: string): Promise<void> => fs.unlink(path),
  syncDirectory: async (path: string): Promise<void> => void path,
}

let base: string
let root: string

beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), 'palimpsest-power-'))
  root = join(base, 'disk')
  return fs.mkdir(root)
})
afterEach(() => rmSync(base, { recursive: true, force: true }))

function bytes(text: string): Uint8Array {
  return Buffer.from(text)
}

/** What each crash state of the last moment holds: file names and contents, NUL shown as `~`. */
function outcomes(recorder: PowerLossRecorder<typeof disk, string>): Set<string> {
  const states = [...recorder.crashStates(1000, 1)]
  const after = states.at(-1)?.after
  const first = states.findLastIndex((state) => state.after !== after) + 1
  return new Set(
    states.slice(first).map((state) => {
      const target = mkdtempSync(join(base, 'crash-'))
      state.materialise(target)
      return readdirSync(target)
        .map((name) => `${name}=${readFileSync(join(target, name), 'utf8').replaceAll('\0', '~')}`)
        .join(' ')
    }),
  )
}

async function put(
  recorder: PowerLossRecorder<typeof disk, string>,
  name: string,
  text: string,
  position = 0,
): Promise<File> {
  const file = await recorder.fileSystem.open(join(root, name), position === 0 ? 'wx+' : 'r+')
  await file.write(bytes(text), 0, text.length, position)
  return file
}

describe('PowerLossRecorder', () => {
  it('may lose name, length and page of a new file, each alone', async () => {
    const recorder = new PowerLossRecorder<typeof disk, string>(disk, root)
    await (await put(recorder, 'a', 'hi')).close()
    expect(outcomes(recorder)).toEqual(new Set(['', 'a=', 'a=hi', 'a=~~']))
  })

  it('loses nothing that was synced, and a synced file only by its name', async () => {
    const recorder = new PowerLossRecorder<typeof disk, string>(disk, root)
    const file = await put(recorder, 'a', 'hi')
    await file.datasync()
    expect(outcomes(recorder)).toEqual(new Set(['', 'a=hi']))
    await recorder.fileSystem.syncDirectory(root)
    expect(outcomes(recorder)).toEqual(new Set(['a=hi']))
    await file.close()
  })

  it('loses pages of one write independently of each other', async () => {
    const recorder = new PowerLossRecorder<typeof disk, string>(disk, root, { pageSize: 2 })
    const file = await put(recorder, 'a', 'x')
    await file.datasync()
    await recorder.fileSystem.syncDirectory(root)
    await file.write(bytes('bcd'), 0, 3, 1)
    await file.close()
    expect(outcomes(recorder)).toEqual(new Set(['a=x', 'a=xbcd', 'a=x~cd', 'a=xb~~', 'a=x~~~']))
  })

  it('may bring back truncated bytes, also those of whole pages, until the truncation is synced', async () => {
    const recorder = new PowerLossRecorder<typeof disk, string>(disk, root, { pageSize: 2 })
    const file = await put(recorder, 'a', 'abcd')
    await file.datasync()
    await recorder.fileSystem.syncDirectory(root)
    await file.truncate(1)
    expect(outcomes(recorder)).toEqual(new Set(['a=abcd', 'a=ab~~', 'a=a', 'a=a~~~', 'a=a~cd']))
    await file.datasync()
    expect(outcomes(recorder)).toEqual(new Set(['a=a']))
    await file.close()
  })

  it('does not persist with a second sync what a failed one dropped, unless it was written anew', async () => {
    const faults = faultFileSystem(disk)
    const recorder = new PowerLossRecorder<typeof disk, string>(faults.fileSystem, root)
    const file = await put(recorder, 'a', 'abc')
    await recorder.fileSystem.syncDirectory(root)
    faults.inject({ operation: 'datasync', code: 'EIO', times: 1 })
    await expect(file.datasync()).rejects.toMatchObject({ code: 'EIO' })
    await file.datasync()
    expect(outcomes(recorder)).toEqual(new Set(['a=', 'a=abc', 'a=~~~']))
    await file.truncate(0)
    await file.write(bytes('abc'), 0, 3, 0)
    await file.datasync()
    expect(outcomes(recorder)).toEqual(new Set(['a=abc']))
    await file.close()
  })

  it('keeps two names of one file one file, and may lose either change of a rename', async () => {
    const recorder = new PowerLossRecorder<typeof disk, string>(disk, root)
    await (await put(recorder, 'a', 'x')).datasync()
    await recorder.fileSystem.syncDirectory(root)
    await recorder.fileSystem.link(join(root, 'a'), join(root, 'b'))
    expect(outcomes(recorder)).toEqual(new Set(['a=x', 'a=x b=x']))
    await recorder.fileSystem.syncDirectory(root)
    await recorder.fileSystem.rename(join(root, 'b'), join(root, 'c'))
    expect(outcomes(recorder)).toEqual(new Set(['a=x', 'a=x b=x', 'a=x c=x', 'a=x b=x c=x']))
  })

  it('may bring back an unlinked file though its inode number is in use again', async () => {
    const recorder = new PowerLossRecorder<typeof disk, string>(disk, root)
    const old = await put(recorder, 'a', 'old')
    await old.datasync()
    await old.close()
    await recorder.fileSystem.syncDirectory(root)
    await recorder.fileSystem.unlink(join(root, 'a'))
    const young = await put(recorder, 'b', 'new')
    await young.datasync()
    await young.close()
    expect(outcomes(recorder)).toEqual(new Set(['', 'a=old', 'a=old b=new', 'b=new']))
  })

  it('names the functions that asked for a sync, and forgets one that it is told to ignore', async () => {
    const recorder = new PowerLossRecorder<typeof disk, string>(disk, root, {
      ignores: ({ operation }) => operation === 'datasync',
    })
    async function flushTheLog(): Promise<void> {
      const file = await put(recorder, 'a', 'hi')
      await file.datasync()
    }
    await flushTheLog()
    expect(recorder.syncs.map(({ operation, path }) => [operation, path])).toEqual([['datasync', 'a']])
    expect(recorder.syncs[0]?.site).toContain('flushTheLog')
    expect(outcomes(recorder).has('a=~~')).toBe(true)
  })

  it('binds a mark to the moments after it', async () => {
    const recorder = new PowerLossRecorder<typeof disk, string>(disk, root)
    const file = await put(recorder, 'a', 'hi')
    await file.datasync()
    recorder.mark('hi is safe')
    await file.write(bytes('ho'), 0, 2, 2)
    const marks = new Map(
      [...recorder.crashStates(100, 1)].map((state, index) => [index, [state.after, state.marks.length]]),
    )
    expect(new Set([...marks.values()].map(String))).toEqual(
      new Set(['the start,0', 'open a,0', 'write a,0', 'datasync a,1', 'write a,1']),
    )
    await file.close()
  })

  it('samples the same states for the same seed, never the same state twice in a moment', async () => {
    const recorder = new PowerLossRecorder<typeof disk, string>(disk, root, { pageSize: 1 })
    await (await put(recorder, 'a', 'abcdefghijklmnop')).close()
    const once = [...recorder.crashStates(50, 7)].map(({ digest }) => digest)
    expect([...recorder.crashStates(50, 7)].map(({ digest }) => digest)).toEqual(once)
    expect([...recorder.crashStates(50, 8)].map(({ digest }) => digest)).not.toEqual(once)
  })
})
