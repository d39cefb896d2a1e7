import type { Session } from '@palimpsest/session'
import type { PromptRequest } from './adapter.ts'

/** Log and surface without what is appended later. O(surface): the log is not copied until somebody asks for `events`. */
export function logAsItStands(session: Session): PromptRequest['session'] {
  const { length } = session
  return {
    length,
    eventAt: (seq) => (seq < length ? session.eventAt(seq) : undefined),
    get events() {
      return session.events.slice(0, length)
    },
    surface: { nodes: [...session.surface.nodes] },
  }
}
