import { memoryPersistence, type MemoryShelves } from '../src/index.ts'
import { runPersistenceContract } from '../src/contract-suite.ts'

runPersistenceContract('the memory store', () => {
  const shelves: MemoryShelves = new Map()
  return { open: () => memoryPersistence(shelves), dispose: () => Promise.resolve() }
})
