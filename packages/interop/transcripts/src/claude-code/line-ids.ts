import { createHash } from 'node:crypto'

const uuidShape = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

/** Gives out the ids of exported lines: valid, unique, and the same for the same session each time. */
export class LineIds {
  readonly #scope: string
  readonly #taken = new Set<string>()

  /** Ids of different scopes differ. */
  constructor(scope: string) {
    this.#scope = scope
  }

  /** The wanted uuid where it is one that nobody has, else one made from `place`. */
  uuid(place: string, wanted = ''): string {
    if (uuidShape.test(wanted) && this.#take(wanted)) return wanted
    return this.#made(place, asUuid)
  }

  /** The wanted id of a response where nobody has it, else one made from `place`. */
  response(place: string, wanted = ''): string {
    if (wanted !== '' && this.#take(wanted)) return wanted
    return this.#made(place, (digest) => `msg_${digest.slice(0, 24)}`)
  }

  #made(place: string, shape: (digest: string) => string): string {
    for (let round = 0; ; round += 1) {
      const id = shape(digestOf(JSON.stringify([this.#scope, place, round])))
      if (this.#take(id)) return id
    }
  }

  #take(id: string): boolean {
    if (this.#taken.has(id)) return false
    this.#taken.add(id)
    return true
  }
}

/** The id itself where it is a uuid, else one made from it. */
export function sessionUuid(id: string): string {
  return uuidShape.test(id) ? id : asUuid(digestOf(id))
}

const digestOf = (text: string): string => createHash('sha256').update(text).digest('hex')

/** A digest in the shape of a random uuid: version 4, variant 1. */
function asUuid(digest: string): string {
  const variant = ((Number.parseInt(digest.slice(16, 17), 16) & 3) | 8).toString(16)
  const parts = [digest.slice(0, 8), digest.slice(8, 12), `4${digest.slice(13, 16)}`, variant + digest.slice(17, 20)]
  return [...parts, digest.slice(20, 32)].join('-')
}
