import { runPageProgram } from '@palimpsest/testkit'
import { expect, it } from 'vitest'

const pages = ['packages/core/agent-loop/README.md']

it.each(pages)('the program on the page prints what it says that it prints: %s', async (page) => {
  const { printed, promised } = await runPageProgram(new URL(`../../../../${page}`, import.meta.url), import.meta.url)
  expect(printed).toEqual(promised)
})
