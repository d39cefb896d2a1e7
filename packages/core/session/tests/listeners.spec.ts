import { Session } from '@palimpsest/session'
import type { SessionEvent } from '@palimpsest/session'
import { text, userData } from '@palimpsest/testkit'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { add, appended, at, fresh, refusal, replacing, say, talk } from './sessions.ts'

afterEach(() => {
  vi.restoreAllMocks()
})

/** Stops the next append with its own error. */
function vetoing(session: Session): { readonly error: Error; readonly stop: () => void } {
  const error = new Error('veto')
  const stop = session.on('internal/dispatch', () => {
    throw error
  })
  return { error, stop }
}

describe('internal/dispatch', () => {
  it('sees the frozen event and the session before the commit', () => {
    const session = talk()
    const seen: unknown[] = []
    session.on('internal/dispatch', (event, of) =>
      seen.push(event.seq, of.length, of === session, Object.isFrozen(event)),
    )
    say(session, 'x')
    expect(seen).toEqual([at.done + 1, at.done + 1, true, true])
  })

  it('vetoes with its own error; later listeners and observers hear nothing', () => {
    const session = talk()
    const { error } = vetoing(session)
    const later = vi.fn()
    session.on('internal/dispatch', later)
    session.on('session/event', later)
    expect(() => say(session, 'x')).toThrow(error)
    expect(later).not.toHaveBeenCalled()
    expect(session.length).toBe(at.done + 1)
  })

  it('never lets the plan of a vetoed candidate be applied to a later one, not even to an equal one', () => {
    const session = talk()
    const cover = replacing(at.user, at.resultB, at.user, at.calls, at.resultA, at.resultB)
    const { error, stop } = vetoing(session)
    expect(() => say(session, 'x', cover)).toThrow(error)
    expect(session.surface.nodes).toEqual([at.head, at.user, at.calls, at.resultA, at.resultB, at.done])
    stop()
    say(session, 'x')
    expect(session.surface.nodes.at(-1)).toBe(at.done + 1)
    say(session, 'x', cover)
    expect(session.surface.nodes).toEqual([at.head, at.done + 2, at.done, at.done + 1])
    expect(session.surface.replaceGeneration).toBe(1)
  })

  it('refuses a nested append, and the outer one with it unless the listener catches the refusal', () => {
    const session = talk()
    let inner: unknown
    const stop = session.on('internal/dispatch', () => {
      inner = refusal(() => say(session, 'nested')).code
    })
    say(session, 'outer')
    expect(inner).toBe('append/reentrant')
    expect(session.length).toBe(at.done + 2)
    stop()
    say(session, 'free again')
  })

  it('refuses an event when the clock appended meanwhile', () => {
    const clock = { nested: false }
    const session: Session = fresh({
      now: () => {
        if (clock.nested) return 1
        clock.nested = true
        say(session, 'nested')
        return 2
      },
    })
    expect(refusal(() => say(session, 'x'))).toMatchObject({ code: 'append/reentrant', seq: 0 })
    expect(session.events.map(({ seq, time }) => [seq, time])).toEqual([[0, 1]])
  })

  it('refuses an event whose payload appended while it was read', () => {
    const session = talk()
    const data = {
      get turn() {
        say(session, 'nested')
        return 2
      },
    }
    expect(refusal(() => add(session, 'turn/start', data)).code).toBe('append/reentrant')
    expect(session.events.map(({ seq }) => seq)).toEqual([...session.events.keys()])
    expect(session.surface.nodes.at(-1)).toBe(at.done + 1)
    say(session, 'x')
    expect(session.length).toBe(at.done + 3)
  })
})

describe('session/event', () => {
  it('hears each event after its commit, in order of registration', () => {
    const session = talk()
    const heard: string[] = []
    session.on('session/event', (event, of) => heard.push(`one ${String(event.seq)} of ${String(of.length)}`))
    session.on('session/event', (event) => heard.push(`two ${String(event.seq)}`))
    say(session, 'x')
    expect(heard).toEqual([`one ${String(at.done + 1)} of ${String(at.done + 2)}`, `two ${String(at.done + 1)}`])
  })

  it('commits a nested append at once and returns its event, while the delivery waits its turn', () => {
    const session = fresh()
    const heard: string[] = []
    session.on('session/event', (event) => {
      if (event.seq === 0) {
        const nested = say(session, 'nested')
        expect(session.eventAt(1)).toBe(nested)
        expect(session.surface.nodes).toEqual([0, 1])
        heard.push('appended 1')
      }
    })
    session.on('session/event', (event) => heard.push(`heard ${String(event.seq)}`))
    say(session, 'x')
    expect(heard).toEqual(['appended 1', 'heard 0', 'heard 1'])
  })

  it('sees only later events when it was added during a dispatch', () => {
    const session = fresh()
    const heard: number[] = []
    const stop = session.on('internal/dispatch', () => {
      stop()
      session.on('session/event', (event) => heard.push(event.seq))
    })
    say(session, 'x')
    say(session, 'y')
    expect(heard).toEqual([1])
  })

  it('is gone after its removal, once for each time it was added', () => {
    const session = fresh()
    const listener = vi.fn()
    const stop = session.on('session/event', listener)
    session.on('session/event', listener)
    say(session, 'x')
    stop()
    stop()
    say(session, 'y')
    expect(listener).toHaveBeenCalledTimes(3)
  })

  it('is contained: the error goes to onListenerError, and the others still hear the event', () => {
    const told: unknown[] = []
    const session = fresh({ onListenerError: (error, event) => told.push(error, event) })
    const error = new Error('observer')
    const heard = vi.fn()
    session.on('session/event', () => {
      throw error
    })
    session.on('session/event', heard)
    const event = say(session, 'x')
    expect(told).toEqual([error, event])
    expect(heard).toHaveBeenCalledTimes(1)
  })

  it('is contained when it is asynchronous, too', async () => {
    const told = vi.fn()
    const session = fresh({ onListenerError: told })
    const error = new Error('later')
    session.on('session/event', (): void => Promise.reject(error) as never)
    const event = say(session, 'x')
    await vi.waitFor(() => {
      expect(told).toHaveBeenCalledWith(error, event)
    })
  })

  it('goes to the console once per listener when nobody asked for errors', () => {
    const log = vi.spyOn(console, 'error').mockImplementation(() => undefined)
    const session = fresh()
    const fail = (): never => {
      throw new Error('x')
    }
    session.on('session/event', fail)
    session.on('session/event', () => fail())
    say(session, 'x')
    say(session, 'y')
    expect(log).toHaveBeenCalledTimes(2)
  })

  it('does not reach the appender even when onListenerError throws', () => {
    const log = vi.spyOn(console, 'error').mockImplementation(() => undefined)
    const session = fresh({
      onListenerError: () => {
        throw new Error('reporter')
      },
    })
    session.on('session/event', () => {
      throw new Error('observer')
    })
    expect(say(session, 'x').seq).toBe(0)
    expect(say(session, 'y').seq).toBe(1)
    expect(log).toHaveBeenCalledTimes(2)
  })

  it('does not reach the appender even when the console throws, nor the other listeners', () => {
    vi.spyOn(console, 'error').mockImplementation(() => {
      throw new Error('console')
    })
    const session = fresh()
    const heard: number[] = []
    session.on('session/event', () => {
      throw new Error('observer')
    })
    session.on('session/event', ({ seq }) => heard.push(seq))
    say(session, 'x')
    say(session, 'y')
    expect(heard).toEqual([0, 1])
  })

  it('says that a clock of the wrong kind gives no time', () => {
    for (const time of [1n, {}, 1.5, Number.NaN]) {
      expect(refusal(() => say(fresh({ now: () => time as number }), 'x')).code).toBe('envelope/time')
    }
  })
})

describe('public reads', () => {
  it('give one frozen snapshot of the log until the next append', () => {
    const session = talk()
    const before = session.events
    expect(session.events).toBe(before)
    expect(Object.isFrozen(before)).toBe(true)
    refusal(() => add(session, 'turn/start', {}))
    expect(session.events).toBe(before)
    say(session, 'x')
    expect(session.events).not.toBe(before)
    expect(before.length).toBe(at.done + 1)
  })

  it('walk the log from any seq, also over what is appended meanwhile', () => {
    const session = talk()
    const seen: number[] = []
    for (const { seq } of session.eventsFrom(at.done)) {
      if (seq === at.done) say(session, 'x')
      seen.push(seq)
    }
    expect(seen).toEqual([at.done, at.done + 1])
    expect([...session.eventsFrom(-5)].length).toBe(session.length)
    expect([...session.eventsFrom(session.length)]).toEqual([])
    expect(session.eventAt(session.length)).toBeUndefined()
  })

  it('leave out what says nothing, and keep its place on the surface', () => {
    const session = fresh()
    const prompt = add(session, 'system/message', { turn: 1, step: 1, message: promptOf([]) }, appended)
    say(session, 'x')
    expect(session.surface.nodes).toEqual([0, 1])
    expect(session.deriveMessages()).toEqual([session.eventAt(1)?.data])
    add(
      session,
      'system/message',
      { turn: 1, step: 1, message: promptOf([text('be kind')]) },
      replacing(prompt.seq, 0, 0),
    )
    expect(session.deriveMessages().map(({ role }) => role)).toEqual(['system', 'user'])
    add(session, 'system/message', { turn: 1, step: 1, message: promptOf([]) }, replacing(2, 2, 2))
    expect(session.deriveMessages().map(({ role }) => role)).toEqual(['user'])
    add(session, 'user/message', userData('empty', []), appended)
    expect(session.deriveMessages().length).toBe(2)
  })
})

function promptOf(content: readonly object[]): object {
  return { id: 's', role: 'system', content, source: { kind: 'plugin', plugin: 'prompt' } }
}

describe('restore', () => {
  it('knows which events an earlier lifetime wrote', () => {
    const session = talk()
    expect(session.firstLiveSeq).toBe(0)
    const again = Session.restore({ header: session.header, events: session.events, inheritedEventCount: 0 })
    expect(again.firstLiveSeq).toBe(session.length)
    say(again, 'x')
    expect(again.firstLiveSeq).toBe(session.length)
    expect(again.eventAt(0)).toBe(session.eventAt(0) as SessionEvent)
  })
})
