import type { SyncCall } from '@palimpsest/testkit'
import { beforeAll, describe, expect, it } from 'vitest'
import { scenarios, type Scenario } from './power-loss-scenarios.ts'
import { record, searchLoss, type Recording } from './power-loss.ts'
import { scratch } from './scratch.ts'

const place = scratch()

/** What a synced path is. */
const things: readonly (readonly [RegExp, string])[] = [
  [/^\.$/, 'the directory above the root'],
  [/^root$/, 'the root'],
  [/^root\/[^/]+$/, 'the project directory'],
  [/^root\/[^/]+\/[^/]+$/, 'the session directory'],
  [/\/session\.v3\.jsonl(\..*)?$/, 'the log'],
  [/\/recovered$/, 'recovered/'],
  [/\/recovered\/[^/]+$/, 'the bytes moved aside'],
  [/\/attachments$/, 'attachments/'],
  [/\/attachments\/sha256$/, 'attachments/sha256/'],
  [/\/attachments\/sha256\/[^/]+$/, 'attachments/sha256/ab/'],
  [/\/attachments\/sha256\/[^/]+\/[^/]+$/, 'the attachment'],
]

function thingOf({ path }: SyncCall): string {
  return things.find(([pattern]) => pattern.test(path))?.[1] ?? path
}

const created = 'a session is created and appended to'
const deleted = 'a session is deleted'
const put = 'an attachment is put and cited'
const torn = 'a torn tail is recovered'

/** Every sync of the store: what is synced, by which function, and the scenarios that lose something without it. */
const table: readonly { readonly thing: string; readonly by: string; readonly needed: readonly string[] }[] = [
  { thing: 'the log', by: 'publish', needed: [created, 'a session without events is made durable'] },
  { thing: 'the session directory', by: 'publish', needed: [created] },
  { thing: 'the project directory', by: 'publish', needed: [created] },
  { thing: 'the root', by: 'publish', needed: [created] },
  {
    thing: 'the directory above the root',
    by: 'makeRoot',
    needed: [created, 'a session is created in a root that another one has just made'],
  },
  {
    thing: 'the log',
    by: 'append',
    needed: [created, 'a stored session is opened and appended to', 'an open call is closed'],
  },
  {
    thing: 'the log',
    by: '#settle',
    needed: [
      'a batch is written halfway and gives way to another',
      'a batch is written, its sync fails, and it gives way to another',
    ],
  },
  {
    thing: 'the log',
    by: 'mend',
    needed: [torn, 'a last record gets its newline', 'whole records that were never acknowledged are kept'],
  },
  { thing: 'the bytes moved aside', by: 'moveAside', needed: [torn] },
  { thing: 'recovered/', by: 'moveAside', needed: [torn] },
  { thing: 'the session directory', by: 'moveAside', needed: [torn] },
  { thing: 'the attachment', by: 'putAttachment', needed: [put] },
  { thing: 'attachments/sha256/ab/', by: 'putAttachment', needed: [put] },
  { thing: 'attachments/sha256/', by: 'putAttachment', needed: [put] },
  { thing: 'attachments/', by: 'putAttachment', needed: [put] },
  { thing: 'the session directory', by: 'putAttachment', needed: [put] },
  { thing: 'the session directory', by: 'deleteSession', needed: [deleted] },
  { thing: 'the project directory', by: 'deleteSession', needed: [deleted] },
]

const named = ['makeRoot', 'publish', 'append', '#settle', 'mend', 'moveAside', 'putAttachment', 'deleteSession']

/** The function of the table that asked for a sync: the innermost one that it names. */
function byOf({ site }: SyncCall): string {
  return site.split(' < ').find((name) => named.includes(name)) ?? site
}

function isRow(sync: SyncCall, row: { readonly thing: string; readonly by: string }): boolean {
  return thingOf(sync) === row.thing && byOf(sync) === row.by
}

function scenarioOf(name: string): Scenario {
  const found = scenarios.find((scenario) => scenario.name === name)
  if (found === undefined) throw new Error(`no scenario is named ${name}`)
  return found
}

describe('every sync of the store', () => {
  let recordings: Recording[]
  beforeAll(async () => {
    recordings = []
    for (const scenario of scenarios) recordings.push(await record(scenario, place.fresh()))
  })

  it('is in this table', () => {
    const missing = recordings.flatMap(({ syncs }) => syncs.filter((sync) => !table.some((row) => isRow(sync, row))))
    expect(missing).toEqual([])
  })

  it.each(table.flatMap((row) => row.needed.map((scenario) => ({ ...row, scenario }))))(
    '$thing, by $by: without it something is lost while $scenario',
    async (row) => {
      let taken = 0
      const scenario = scenarioOf(row.scenario)
      const ignores = (sync: SyncCall): boolean => {
        const isTaken = isRow(sync, row)
        if (isTaken) taken += 1
        return isTaken
      }
      const recording = await record(scenario, place.fresh(), { ignores })
      expect(taken).toBeGreaterThan(0)
      const { loss } = await searchLoss(scenario, recording, place.fresh, { seed: 20_260_101, limit: 400 })
      expect(loss).toBeDefined()
    },
  )
})
