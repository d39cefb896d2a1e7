import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { bundleChild, Child, type ChildProgram } from '../src/child-process.ts'

let program: ChildProgram

beforeAll(async () => {
  program = await bundleChild(fileURLToPath(new URL('./programs/echo.ts', import.meta.url)))
})
afterAll(async () => {
  await program.dispose()
  expect(existsSync(program.path)).toBe(false)
})

describe('Child', () => {
  it('runs TypeScript with workspace imports and talks in lines', async () => {
    const child = new Child(program, ['now'])
    expect(await child.next()).toBe('ready 3 now')
    child.send('a\u2028b')
    expect(await child.next()).toBe('heard a\u2028b')
    child.send('leave')
    expect(await child.exit).toEqual({ code: 7, signal: null })
    expect(child.lines).toHaveLength(2)
  })

  it('dies of SIGKILL, also while it is stopped, and says so to who awaits a line', async () => {
    const child = new Child(program)
    await child.next()
    child.kill('SIGSTOP')
    const awaited = child.next()
    expect((await child.end()).signal).toBe('SIGKILL')
    await expect(awaited).rejects.toThrow('SIGKILL')
  })
})
