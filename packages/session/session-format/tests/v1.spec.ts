import { describe, expect, it } from 'vitest'
import { openAnyVersion } from '../src/open.ts'
import { OldLog, bytesOf, streamed, userMessage } from './fixtures.ts'
import { refusal } from './support.ts'

function conversation(version: number, id: string | undefined): OldLog {
  const log = new OldLog({ version })
  log.startTurn()
  log.startStep()
  log.append('user/message', userMessage(id, 'hi'))
  log.answer([streamed('text', ['hel', 'lo'])])
  log.endStep()
  log.endTurn()
  return log
}

const open = (log: OldLog): ReturnType<typeof openAnyVersion> =>
  openAnyVersion({ name: 'session.v1.jsonl', bytes: () => bytesOf(log.rows({ packed: true, ranges: true })) })

describe('a log of version 1', () => {
  it('is read as version 0 is, packed rows and ranges too', async () => {
    const { from, ...rest } = await open(conversation(1, 'u'))
    expect({ ...rest, from: 0 }).toEqual(await open(conversation(0, 'u')))
    expect(from).toBe(1)
  })

  it('has messages with identity: that of version 0 alone is made up', async () => {
    expect((await open(conversation(0, undefined))).events).toContainEqual(
      expect.objectContaining({ data: { ...userMessage(undefined, 'hi'), id: 'legacy-message:old:2' } }),
    )
    expect(await refusal(open(conversation(1, undefined)))).toMatchObject({ code: 'format/refused', line: 4 })
  })
})
