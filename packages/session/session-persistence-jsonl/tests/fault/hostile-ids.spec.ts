import {
  lstatSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { basename, dirname, join, resolve, sep } from 'node:path'
import { sessionId } from '@palimpsest/session'
import { spyFileSystem, type FileSystemCall } from '@palimpsest/testkit'
import fc from 'fast-check'
import { beforeEach, describe, expect, it } from 'vitest'
import { nodeFileSystem } from '../../src/index.ts'
import { scratch } from './scratch.ts'
import { fingerprint, headerOf, id, logOf, openStore, readAll, said, saidAll, sha256, writeSession } from './support.ts'

const place = scratch()
let root: string

beforeEach(() => {
  root = join(place.fresh(), 'root')
})

function outside(calls: readonly FileSystemCall[]): string[] {
  const isInside = (path: string): boolean => resolve(path) === path && (path === root || path.startsWith(root + sep))
  // The root itself is made where it is missing, and its name made durable.
  const isRootsOwn = ({ operation, path }: FileSystemCall): boolean =>
    ['syncDirectory', 'lstat'].includes(operation) && path === dirname(root)
  return calls
    .filter((call) => !isRootsOwn(call))
    .flatMap(({ path, target }) => [path, ...(target === undefined ? [] : [target])])
    .filter((path) => !isInside(path) || path.includes('\0'))
}

/** Everything one can do with an id; returns the name of the session's directory. */
async function exercise(name: string): Promise<string> {
  const { fileSystem, calls } = spyFileSystem(nodeFileSystem)
  const store = openStore(root, fileSystem)
  const key = sessionId(name)
  expect(await store.stat(key)).toBeUndefined()
  await expect(store.open(key, 'read')).rejects.toThrow()
  await expect(store.open(key, 'write')).rejects.toThrow()
  const handle = await store.create(headerOf(name))
  await handle.append([said(0)])
  await handle.close()
  const ref = await store.attachments(key).put(Buffer.from('x'), { mediaType: 'text/plain' })
  expect(await store.attachments(key).has(ref)).toBe(true)
  const again = await store.open(key, 'write')
  expect(again.header.id).toBe(name)
  await again.append([said(1)])
  await again.close()
  expect((await store.stat(key))?.header.id).toBe(name)
  const listed: string[] = []
  for await (const { header } of store.list()) listed.push(header.id)
  expect(listed).toContain(name)
  const directory = basename(dirname(logOf(root)))
  await store.delete(key)
  expect(await store.stat(key)).toBeUndefined()
  await store.close()
  expect(outside(calls)).toEqual([])
  expect(Buffer.byteLength(directory)).toBeLessThanOrEqual(255)
  return directory
}

const hostile = [
  '../../x',
  '/etc/x',
  'a/../../b',
  '..\\x',
  'x\0',
  '.',
  '..',
  '...',
  '~',
  '-rf',
  'a/b',
  'a\\b',
  'C:\\x',
  'C:x',
  '\\\\host\\share',
  'CON',
  'con',
  'nul.txt',
  'COM1',
  'lpt9.log',
  'a.',
  'a ',
  ' a',
  'A',
  'a',
  '%2e%2e%2f',
  '%00',
  'x\n',
  'x\r\ny',
  '\u2028',
  '\u202e',
  '\ud800',
  '\udc00',
  '\ud800\udc00',
  'e\u0301',
  '\u00e9',
  'İ',
  'ı',
  'ß',
  'ẞ',
  'ſ',
  's',
  'K',
  'k',
  'a'.repeat(255),
  'a'.repeat(256),
  'é'.repeat(200),
  '😀'.repeat(5000),
  'session.v3.jsonl',
  'session.lock',
  'attachments',
  'recovered',
  '__proto__',
  'constructor',
  '*',
  '?',
  '<',
  '>',
  '|',
  '"',
  ':',
  'a:b',
  '$HOME',
  '`x`',
]

describe('PS-01: hostile ids', () => {
  it('every id has a directory of its own inside the root, whatever the file system makes of case and accents', async () => {
    const directories = new Map<string, string>()
    for (const name of hostile) {
      const directory = await exercise(name)
      const folded = directory
        .normalize('NFKC')
        .toLowerCase()
        .replace(/[. ]+$/, '')
      expect(directories.get(folded), `${JSON.stringify(name)} shares a directory`).toBeUndefined()
      expect(directory).not.toMatch(/^(con|prn|aux|nul|com\d|lpt\d)(\..*)?$/i)
      expect(directory).not.toMatch(/[. ]$|[<>:"/\\|?*]|[^\x21-\x7e]/)
      directories.set(folded, name)
    }
  })

  it('no id at all makes a call outside the root', async () => {
    const nasty = fc.constantFrom('..', '/', '\\', '.', '\0', ':', ' ', 'a', 'A', '\ud800', '%', 'é', '\n')
    const ids = fc.oneof(
      fc.string({ unit: 'binary', minLength: 1, maxLength: 40 }),
      fc.array(nasty, { minLength: 1, maxLength: 8 }).map((parts) => parts.join('')),
    )
    await fc.assert(
      fc.asyncProperty(ids, async (name) => {
        await exercise(name)
      }),
      { numRuns: 25 },
    )
  })

  it('two ids never share a directory', async () => {
    const unit = fc.constantFrom('a', 'A', '.', '%', '_', '-', '~', '=', '0', 'é', 'É', ' ', '\ud800', '\udc00', '\0')
    const ids = fc.array(unit, { minLength: 1, maxLength: 4 }).map((parts) => parts.join(''))
    await fc.assert(
      fc.asyncProperty(ids, ids, async (left, right) => {
        fc.pre(left !== right)
        expect((await exercise(left)).toLowerCase()).not.toBe((await exercise(right)).toLowerCase())
      }),
      { numRuns: 25 },
    )
  })
})

describe('other names that come from outside', () => {
  const notDigests = [
    '../../x',
    'sha256:../../../x',
    `sha256:${'A'.repeat(64)}`,
    `sha256:${'a'.repeat(63)}/`,
    `sha256:${'a'.repeat(64)}\n`,
    `sha512:${'a'.repeat(64)}`,
    '',
    'sha256:',
  ]

  it.each(notDigests)('an attachment id %j is refused before any file call for it', async (attachmentId) => {
    await writeSession(root, [saidAll(0, 1)])
    const { fileSystem, calls } = spyFileSystem(nodeFileSystem)
    const store = openStore(root, fileSystem)
    const ref = { attachmentId, mediaType: 'text/plain', bytes: 1 }
    await expect(store.attachments(id).get(ref)).rejects.toMatchObject({ code: 'attachment/invalid' })
    await expect(store.attachments(id).has(ref)).rejects.toMatchObject({ code: 'attachment/invalid' })
    await store.close()
    expect(calls.filter(({ path }) => path.includes('attachments'))).toEqual([])
    expect(outside(calls)).toEqual([])
  })

  it.each([
    '../../x',
    '/',
    '/..',
    '..',
    '.',
    '\0',
    'C:\\..\\..',
    '/a/../../b',
    `/${'x'.repeat(5000)}`,
    '/\ud800',
    '/tmp/..',
  ])('a working directory %j stays inside the root', async (cwd) => {
    const { fileSystem, calls } = spyFileSystem(nodeFileSystem)
    const store = openStore(root, fileSystem)
    const handle = await store.create({ ...headerOf(), cwd }).catch((cause: unknown) => {
      expect(cause).toMatchObject({ code: 'header/invalid' })
    })
    await handle?.append([said(0)])
    await handle?.close()
    await store.close()
    expect(outside(calls)).toEqual([])
    if (handle !== undefined) expect((await readAll(root)).header.cwd).toBe(cwd)
  })
})

describe('symbolic links below the root', () => {
  const places: readonly (readonly [string, (log: string) => string])[] = [
    ['the log', (log) => log],
    ['the session directory', (log) => dirname(log)],
    ['the project directory', (log) => dirname(dirname(log))],
    ['the lock file', (log) => join(dirname(log), 'session.lock')],
    ['the owner file', (log) => join(dirname(log), 'session.owner')],
    ['the attachments directory', (log) => join(dirname(log), 'attachments')],
    ['the recovered directory', (log) => join(dirname(log), 'recovered')],
  ]

  /** What is at a path: nothing, a file's digest, or all that a directory holds. */
  function contentOf(path: string): unknown {
    const stat = lstatSync(path, { throwIfNoEntry: false })
    if (stat === undefined) return undefined
    return stat.isDirectory() ? fingerprint(path) : sha256(readFileSync(path))
  }

  /** Everything that writes below the session's directory: recovery, an append, an attachment. */
  async function writeAll(): Promise<void> {
    const store = openStore(root)
    const attachments = store.attachments(id)
    await attachments.put(Buffer.from('secret'), { mediaType: 'text/plain' }).catch(() => undefined)
    const handle = await store.open(id, 'write')
    await handle.append([said(2)])
    await handle.close()
    await store.close()
  }

  beforeEach(async () => {
    await writeSession(root, [saidAll(0, 2)])
    // A torn tail, so that recovery has something to move.
    writeFileSync(logOf(root), '{"type":"user/mess', { flag: 'a' })
  })

  it.each(places)('%s as a link out of the root is not followed', async (_, pathOf) => {
    const elsewhere = join(dirname(root), 'elsewhere')
    const path = pathOf(logOf(root))
    if (contentOf(path) === undefined) mkdirSync(elsewhere)
    else renameSync(path, elsewhere)
    symlinkSync(elsewhere, path)
    const before = contentOf(elsewhere)
    await writeAll().catch(() => undefined)
    expect(contentOf(elsewhere)).toEqual(before)
    expect(readdirSync(dirname(root)).sort()).toEqual(['elsewhere', 'root'])
  })

  it.each(places)('%s as a link to nothing makes nothing outside the root', async (_, pathOf) => {
    const elsewhere = join(dirname(root), 'elsewhere')
    const path = pathOf(logOf(root))
    rmSync(path, { recursive: true, force: true })
    symlinkSync(elsewhere, path)
    await writeAll().catch(() => undefined)
    const store = openStore(root)
    const created = await store.create(headerOf()).catch(() => undefined)
    await created?.append([said(0)]).catch(() => undefined)
    await store.close()
    expect(readdirSync(dirname(root))).toEqual(['root'])
  })

  it.each(places.slice(0, 3))('what %s as a link leads to is not read either', async (_, pathOf) => {
    const elsewhere = join(dirname(root), 'elsewhere')
    const path = pathOf(logOf(root))
    renameSync(path, elsewhere)
    symlinkSync(elsewhere, path)
    const store = openStore(root)
    await expect(store.open(id, 'read')).rejects.toThrow()
    const listed = []
    for await (const { header } of store.list()) listed.push(header.id)
    expect(listed).toEqual([])
    await store.close()
  })
})
