import { runPageProgram } from '@palimpsest/testkit'
import { expect, it } from 'vitest'

const pages = ['README.md', 'README.zh.md', 'packages/core/session/README.md', 'docs/core-data-structures/surface.md']

it.each(pages)('the program on the page prints what it says that it prints: %s', async (page) => {
  const { printed, promised } = await runPageProgram(new URL(`../../../../${page}`, import.meta.url), import.meta.url)
  expect(printed).toEqual(promised)
})
