import { compactionEvents } from '@palimpsest/compact'
import { type Vocabulary, coreEvents } from '@palimpsest/session'
import { deepSeekHarnessPack, packVocabulary } from '@palimpsest/session-format'
import { importEvents } from '@palimpsest/transcripts'
import { salvageEvents } from './salvage/events.ts'

const ownEvents = coreEvents.extend(compactionEvents).extend(importEvents).extend(salvageEvents)

/** Every event type that a package of this repository defines, and those that a migrated log may hold. SPEC 2.2, 6. */
export const allEvents: Vocabulary = ownEvents.extend(packVocabulary(deepSeekHarnessPack, ownEvents))
