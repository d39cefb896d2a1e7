import { compactionEvents } from '@palimpsest/compact'
import { type Vocabulary, coreEvents } from '@palimpsest/session'
import { importEvents } from '@palimpsest/transcripts'
import { salvageEvents } from './salvage/events.ts'

/** Every event type that a package of this repository defines. SPEC 2.2. */
export const allEvents: Vocabulary = coreEvents.extend(compactionEvents).extend(importEvents).extend(salvageEvents)
