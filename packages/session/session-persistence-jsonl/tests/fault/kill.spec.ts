import type { ChildProgram } from '@palimpsest/testkit'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { killWriters } from './kill.ts'
import { bundleWriter } from './processes.ts'
import { scratch } from './support.ts'

// Disks and processes take their time on a busy machine.
vi.setConfig({ testTimeout: 120_000, hookTimeout: 60_000 })

const place = scratch()
let writer: ChildProgram

beforeAll(async () => {
  writer = await bundleWriter()
})
afterAll(async () => {
  await writer.dispose()
  place.dispose()
})

describe('a writer killed with SIGKILL at 8 random moments', () => {
  it('loses no acknowledged event, and its session always opens and goes on', async () => {
    const seed = Date.now() % 2 ** 31
    console.info(`seed ${seed}`)
    expect(await killWriters(writer, place.path, 8, seed)).toBeGreaterThan(8)
  })
})
