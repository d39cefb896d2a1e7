import { runPageProgram } from '@palimpsest/testkit'
import { expect, it } from 'vitest'

it('the program on the page prints what it says that it prints', async () => {
  const page = new URL('../README.md', import.meta.url)
  const { printed, promised } = await runPageProgram(page, import.meta.url)
  expect(printed).toEqual(promised)
})
