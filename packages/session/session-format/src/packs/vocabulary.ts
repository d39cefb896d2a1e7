import { type Vocabulary, coreEvents, defineEvents } from '@palimpsest/session'
import { z } from 'zod'
import type { VocabularyPack } from '../log.ts'

/**
 * The types of a pack for a session that is to know them. Their payloads are any JSON object: what a plugin of another
 * program means by them is its own matter. Types that `beside` defines are left to it, so that the two compose:
 * `beside.extend(packVocabulary(pack, beside))`. SPEC 2.2, 6.
 */
export function packVocabulary(pack: VocabularyPack, beside: Vocabulary = coreEvents): Vocabulary {
  const types = Object.keys(pack.types).filter((type) => beside.get(type) === undefined)
  const schema = z.looseObject({})
  return defineEvents(Object.fromEntries(types.map((type) => [type, schema])), { owner: pack.name })
}
