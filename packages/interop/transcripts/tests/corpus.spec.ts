import { Session, SessionStore, deriveMessagesAt, interruptedTurnClosers } from '@palimpsest/session'
import { describe, expect, it } from 'vitest'
import { importVocabulary } from '../src/index.ts'
import { Fixture, tangled } from './fixture.ts'
import { violations } from './providers.ts'
import { importBytes } from './support.ts'

// Public failure reports, named by their id in the corpus.

async function sessionOf(file: Fixture): Promise<Session> {
  const [first] = await importBytes(file.bytes())
  if (first === undefined) throw new Error('nothing was imported')
  return Session.restore(structuredClone(first.session), { vocabulary: importVocabulary })
}

describe('DU-01: a file that each resume has given one more copy of a result', () => {
  it('derives one result for the call, and says where the copies are', async () => {
    const file = new Fixture()
    file.user('Go')
    const call = file.call('m1', 'a')
    for (let copy = 0; copy < 3; copy += 1) file.result('a', { parentUuid: call })
    file.text('m2', 'Done.')
    const [imported] = await importBytes(file.bytes())
    const session = await sessionOf(file)
    const results = session
      .deriveMessages()
      .flatMap(({ content }) => content.filter(({ type }) => type === 'tool-result'))
    expect(results).toMatchObject([{ toolCallId: 'a', content: [{ text: 'out a' }] }])
    expect(session.events.filter(({ type }) => type === 'tool/result')).toHaveLength(1)
    expect(imported?.report.unmapped).toHaveLength(2)
  })
})

describe('IP-03: a session that was imported', () => {
  it('is forked and resumed at any event like one of our own', async () => {
    const parent = await sessionOf(tangled())
    for (let boundary = 0; boundary < parent.length; boundary += 1) {
      const store = new SessionStore()
      const child = store.fork(parent, boundary)
      expect(deriveMessagesAt(child.events, boundary + 1)).toEqual(deriveMessagesAt(parent.events, boundary))
      expect(violations(child.deriveMessages())).toEqual([])
      const prefix = parent.events.slice(0, boundary + 1)
      const events = structuredClone([...prefix, ...interruptedTurnClosers(prefix)])
      const stored = { header: parent.header, events, inheritedEventCount: 0 }
      expect(violations(Session.restore(stored, { vocabulary: importVocabulary }).deriveMessages())).toEqual([])
    }
  })
})
