import { jsonlPersistence } from '../../src/index.ts'

const [root = ''] = process.argv.slice(2)
for await (const { header, eventCount, updatedAt, firstPrompt, byteLength } of jsonlPersistence({ root }).list()) {
  console.log(JSON.stringify({ id: header.id, eventCount, updatedAt, firstPrompt, byteLength }))
}
console.log(JSON.stringify({ peak: process.resourceUsage().maxRSS }))
