import type { Session } from '@palimpsest/session'
import { assistantData, userData } from '@palimpsest/testkit'
import { add, answer, appended, at, call, prompt, pruned, record, replacing, reply, say } from '../sessions.ts'
import { next, type Case } from './case.ts'

const prune = (change: (data: Record<string, unknown>) => object) => (session: Session) =>
  add(
    session,
    'tool/result',
    change({ ...pruned(session, at.resultA, 'cut') }),
    replacing(at.resultA, at.resultA, at.resultA),
  )

/** How an event joins the surface as it stands: placement, sources, replacements and pairing. */
export const placementCases: readonly Case[] = [
  {
    code: 'surface/missing-op',
    rule: 'a surface type without surfaceOp is never an implicit append',
    refused: (session) => say(session, 'x', {}),
    accepted: (session) => say(session, 'x', appended),
  },
  {
    code: 'surface/missing-op',
    rule: 'an intent is not optional for a surface type',
    refused: (session) => add(session, 'user/message', userData('u', [])),
    accepted: (session) => add(session, 'user/message', userData('u', []), appended),
  },
  {
    code: 'surface/forbidden',
    rule: 'a log-only type carries no surfaceOp',
    refused: (session) => add(session, 'turn/start', { turn: 2 }, appended),
    accepted: (session) => add(session, 'turn/start', { turn: 2 }, {}),
  },
  {
    code: 'surface/forbidden',
    rule: 'a log-only type carries no surfaceOp of any value',
    refused: (session) => add(session, 'turn/start', { turn: 2 }, { surfaceOp: null }),
    accepted: (session) => add(session, 'turn/start', { turn: 2 }, { surfaceOp: undefined }),
  },
  {
    code: 'surface/forbidden',
    rule: 'a log-only type carries no sources',
    refused: (session) => add(session, 'turn/start', { turn: 2 }, { sourceEventSeqs: [0] }),
    accepted: (session) => say(session, 'x', { ...appended, sourceEventSeqs: [0] }),
  },
  {
    code: 'surface/invalid-op',
    rule: 'the replace object has exactly three keys',
    refused: (session) =>
      say(session, 'x', {
        surfaceOp: { op: 'replace', startSeq: at.done, endSeq: at.done, why: 1 },
        sourceEventSeqs: [at.done],
      }),
    accepted: (session) => say(session, 'x', replacing(at.done, at.done, at.done)),
  },
  {
    code: 'surface/invalid-op',
    rule: 'there are no aliases',
    refused: (session) =>
      say(session, 'x', { surfaceOp: { op: 'replace', start: at.done, end: at.done }, sourceEventSeqs: [at.done] }),
    accepted: (session) => say(session, 'x', replacing(at.done, at.done, at.done)),
  },
  {
    code: 'surface/invalid-op',
    rule: 'the ends are seqs',
    refused: (session) =>
      say(session, 'x', { surfaceOp: { op: 'replace', startSeq: '8', endSeq: at.done }, sourceEventSeqs: [at.done] }),
    accepted: (session) => say(session, 'x', replacing(at.done, at.done, at.done)),
  },
  {
    code: 'surface/invalid-op',
    rule: 'it is append or a replacement',
    refused: (session) =>
      say(session, 'x', {
        surfaceOp: { op: 'insert', startSeq: at.done, endSeq: at.done },
        sourceEventSeqs: [at.done],
      }),
    accepted: (session) => say(session, 'x', replacing(at.done, at.done, at.done)),
  },
  {
    code: 'surface/invalid-op',
    rule: 'metadata is JSON',
    refused: (session) => say(session, 'x', { surfaceOp: () => 'append' }),
    accepted: (session) => say(session, 'x', appended),
  },
  {
    code: 'sources/forbidden',
    rule: 'an assistant cites nothing',
    refused: (session) =>
      add(session, 'assistant/message', assistantData('a', []), { ...appended, sourceEventSeqs: [0] }),
    accepted: (session) => add(session, 'assistant/message', assistantData('a', []), appended),
  },
  {
    code: 'sources/invalid',
    rule: 'sources are not empty',
    refused: (session) => say(session, 'x', { ...appended, sourceEventSeqs: [] }),
    accepted: (session) => say(session, 'x', { ...appended, sourceEventSeqs: [1] }),
  },
  {
    code: 'sources/invalid',
    rule: 'sources are distinct',
    refused: (session) => say(session, 'x', { ...appended, sourceEventSeqs: [1, 2, 1] }),
    accepted: (session) => say(session, 'x', { ...appended, sourceEventSeqs: [1, 2, 0] }),
  },
  {
    code: 'sources/invalid',
    rule: 'sources are earlier',
    refused: (session) => say(session, 'x', { ...appended, sourceEventSeqs: [next] }),
    accepted: (session) => say(session, 'x', { ...appended, sourceEventSeqs: [next - 1] }),
  },
  {
    code: 'sources/invalid',
    rule: 'sources are seqs, and JSON',
    refused: (session) => say(session, 'x', { ...appended, sourceEventSeqs: [-0] }),
    accepted: (session) => say(session, 'x', { ...appended, sourceEventSeqs: [0] }),
  },
  {
    code: 'sources/uncovered',
    rule: 'a replacement cites every shadowed entry',
    refused: (session) => say(session, 'x', replacing(at.user, at.resultB, at.user, at.calls, at.resultA)),
    accepted: (session) => say(session, 'x', replacing(at.user, at.resultB, at.user, at.calls, at.resultA, at.resultB)),
  },
  {
    code: 'sources/uncovered',
    rule: 'a replacement without sources covers nothing',
    refused: (session) => say(session, 'x', replacing(at.done, at.done)),
    accepted: (session) => say(session, 'x', replacing(at.done, at.done, at.done)),
  },
  {
    code: 'replace/not-on-surface',
    rule: 'the start is on the surface',
    refused: (session) => say(session, 'x', replacing(at.turn, at.user, at.turn, at.user)),
    accepted: (session) => say(session, 'x', replacing(at.user, at.user, at.turn, at.user)),
  },
  {
    code: 'replace/not-on-surface',
    rule: 'the end is on the surface, not of the future',
    refused: (session) => say(session, 'x', replacing(at.done, next, at.done)),
    accepted: (session) => say(session, 'x', replacing(at.done, at.done, at.done)),
  },
  {
    code: 'replace/not-on-surface',
    rule: 'an entry that was shadowed left the surface, and its replacement stands there',
    seq: next + 1,
    refused: (session) => {
      say(session, 'x', replacing(at.user, at.user, at.user))
      say(session, 'y', replacing(at.user, at.user, at.user))
    },
    accepted: (session) => {
      say(session, 'x', replacing(at.user, at.user, at.user))
      say(session, 'y', replacing(next, next, next))
    },
  },
  {
    code: 'replace/reversed',
    rule: 'position counts, not the number: a replacement stands where its range stood',
    seq: next + 1,
    refused: (session) => {
      say(session, 'x', replacing(at.user, at.user, at.user))
      say(session, 'y', replacing(at.done, next, at.calls, at.resultA, at.resultB, at.done, next))
    },
    accepted: (session) => {
      say(session, 'x', replacing(at.user, at.user, at.user))
      say(session, 'y', replacing(next, at.done, at.calls, at.resultA, at.resultB, at.done, next))
    },
  },
  {
    code: 'replace/tool-result',
    rule: 'a result replaces a result',
    refused: (session) => answer(session, 'a', 'x', replacing(at.done, at.done, at.done)),
    accepted: prune((data) => data),
  },
  {
    code: 'replace/tool-result',
    rule: 'a result replaces exactly one',
    refused: (session) =>
      add(
        session,
        'tool/result',
        pruned(session, at.resultA, 'x'),
        replacing(at.resultA, at.resultB, at.resultA, at.resultB),
      ),
    accepted: prune((data) => data),
  },
  {
    code: 'replace/tool-result',
    rule: 'a rewritten result keeps its message',
    refused: prune((data) => ({ ...data, message: { ...(data['message'] as object), id: 'other' } })),
    accepted: prune((data) => ({ message: data['message'], step: data['step'], turn: data['turn'] })),
  },
  {
    code: 'replace/tool-result',
    rule: 'a rewritten result gains nothing beside its content',
    refused: prune((data) => ({ ...data, meta: { cut: true } })),
    accepted: prune((data) => data),
  },
  {
    code: 'replace/system-head',
    rule: 'the head is not part of a range',
    refused: (session) => say(session, 'x', replacing(at.head, at.user, at.head, at.user)),
    accepted: (session) => say(session, 'x', replacing(at.user, at.user, at.head, at.user)),
  },
  {
    code: 'replace/system-head',
    rule: 'the head is replaced by a system message over exactly it',
    refused: (session) => say(session, 'x', replacing(at.head, at.head, at.head)),
    accepted: (session) => prompt(session, 'x', replacing(at.head, at.head, at.head)),
  },
  {
    code: 'replace/system-head',
    rule: 'a system message covers no more than the head, while later system entries are free',
    seq: next + 1,
    refused: (session) => {
      prompt(session, 'later')
      prompt(session, 'x', replacing(at.head, at.user, at.head, at.user))
    },
    accepted: (session) => {
      prompt(session, 'later')
      say(session, 'x', replacing(at.done, next, at.done, next))
    },
  },
  {
    code: 'pairing/unknown-call',
    rule: 'a result answers a call that was made',
    refused: (session) => answer(session, 'c', 'x'),
    accepted: (session) => {
      call(session, 'c')
      answer(session, 'c', 'x')
    },
  },
  {
    code: 'pairing/unknown-call',
    rule: 'a call is answered once; its id may come back',
    seq: next + 2,
    refused: (session) => {
      call(session, 'a')
      answer(session, 'a', 'x')
      answer(session, 'a', 'y')
    },
    accepted: (session) => {
      call(session, 'a')
      answer(session, 'a', 'x')
      call(session, 'a')
      answer(session, 'a', 'y')
    },
  },
  {
    code: 'pairing/duplicate-call',
    rule: 'an id is not open twice at once, but was free again after its answer',
    refused: (session) => call(session, 'c', 'd', 'c'),
    accepted: (session) => call(session, 'a', 'b'),
  },
  {
    code: 'pairing/open-calls',
    rule: 'while calls are open only answers are appended; the log goes on',
    seq: next + 2,
    refused: (session) => {
      call(session, 'c', 'd')
      answer(session, 'd', 'x')
      say(session, 'x')
    },
    accepted: (session) => {
      call(session, 'c', 'd')
      answer(session, 'd', 'x')
      record(session, 'c')
      answer(session, 'c', 'x')
      say(session, 'x')
    },
  },
  {
    code: 'pairing/open-calls',
    rule: 'an open call stops the assistant too, but no balanced replacement',
    seq: next + 1,
    refused: (session) => {
      call(session, 'c')
      reply(session, 'x')
    },
    accepted: (session) => {
      call(session, 'c')
      say(session, 'x', replacing(at.done, at.done, at.done))
    },
  },
  {
    code: 'pairing/split',
    rule: 'a range does not take a call without its answer',
    refused: (session) => say(session, 'x', replacing(at.user, at.resultA, at.user, at.calls, at.resultA)),
    accepted: (session) => say(session, 'x', replacing(at.user, at.resultB, at.user, at.calls, at.resultA, at.resultB)),
  },
  {
    code: 'pairing/split',
    rule: 'a range does not take an answer without its call',
    refused: (session) => say(session, 'x', replacing(at.resultB, at.done, at.resultB, at.done)),
    accepted: (session) => say(session, 'x', replacing(at.done, at.done, at.done)),
  },
  {
    code: 'append/reentrant',
    rule: 'a pre-commit listener does not append; a post-commit one may',
    refused: (session) => {
      session.on('internal/dispatch', () => void say(session, 'nested'))
      say(session, 'x')
    },
    accepted: (session) => {
      const stop = session.on('session/event', () => {
        stop()
        say(session, 'nested')
      })
      say(session, 'x')
    },
  },
]
