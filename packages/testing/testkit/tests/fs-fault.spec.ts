import { describe, expect, it } from 'vitest'
import { faultFileSystem } from '../src/fs-fault.ts'
import { spyFileSystem } from '../src/fs-layer.ts'

function memory(): {
  fileSystem: {
    open(path: string): Promise<{ write(...args: [Uint8Array, number, number, number]): Promise<number> }>
    unlink(path: string): Promise<void>
  }
  written: string[]
} {
  const written: string[] = []
  const fileSystem = {
    open: async () => ({
      write: async (buffer: Uint8Array, offset: number, length: number) => {
        written.push(Buffer.from(buffer.subarray(offset, offset + length)).toString())
        return length
      },
    }),
    unlink: async (path: string) => void written.push(`unlink ${path}`),
  }
  return { fileSystem, written }
}

describe('faultFileSystem', () => {
  it('fails matching calls of the file system and of its files until healed', async () => {
    const { fileSystem, written } = memory()
    const layer = faultFileSystem(fileSystem)
    const fault = layer.inject({ operation: 'write', path: (path) => path === '/a', code: 'ENOSPC' })
    const a = await layer.fileSystem.open('/a')
    const b = await layer.fileSystem.open('/b')
    await expect(a.write(Buffer.from('x'), 0, 1, 0)).rejects.toMatchObject({ code: 'ENOSPC', path: '/a' })
    expect(await b.write(Buffer.from('y'), 0, 1, 0)).toBe(1)
    fault.heal()
    expect(await a.write(Buffer.from('z'), 0, 1, 0)).toBe(1)
    expect(written).toEqual(['y', 'z'])
    expect(fault.struck).toBe(1)
  })

  it('writes the first bytes of a short write, and rejects after them when it has a code', async () => {
    const { fileSystem, written } = memory()
    const layer = faultFileSystem(fileSystem)
    const file = await layer.fileSystem.open('/a')
    layer.inject({ operation: 'write', bytes: 2, times: 1 })
    expect(await file.write(Buffer.from('abcd'), 0, 4, 0)).toBe(2)
    layer.inject({ operation: 'write', bytes: 3, code: 'EIO', times: 1 })
    await expect(file.write(Buffer.from('abcd'), 0, 4, 0)).rejects.toMatchObject({ code: 'EIO' })
    expect(written).toEqual(['ab', 'abc'])
  })

  it('lets calls pass before it strikes, strikes as often as told, and may fail a call that was made', async () => {
    const { fileSystem, written } = memory()
    const layer = faultFileSystem(fileSystem)
    layer.inject({ operation: ['unlink', 'rename'], code: 'EIO', after: 1, times: 1, happens: true })
    await layer.fileSystem.unlink('1')
    await expect(layer.fileSystem.unlink('2')).rejects.toMatchObject({ code: 'EIO' })
    await layer.fileSystem.unlink('3')
    expect(written).toEqual(['unlink 1', 'unlink 2', 'unlink 3'])
  })

  it('refuses a fault that would do nothing', () => {
    expect(() => faultFileSystem(memory().fileSystem).inject({ operation: 'write' })).toThrow(TypeError)
  })
})

describe('spyFileSystem', () => {
  it('notes every call with the path it names, also calls on open files', async () => {
    const { fileSystem, calls } = spyFileSystem(memory().fileSystem)
    await (await fileSystem.open('/a')).write(Buffer.from('x'), 0, 1, 0)
    await fileSystem.unlink('/b')
    expect(calls.map(({ operation, path }) => `${operation} ${path}`)).toEqual(['open /a', 'write /a', 'unlink /b'])
  })
})
