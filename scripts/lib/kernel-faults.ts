/** One fault of the kernel: text that stands exactly once in a module of `core/session`, and what it becomes. */
export interface Fault {
  readonly name: string
  readonly file: string
  readonly edits: readonly (readonly [right: string, wrong: string])[]
}

const fault = (name: string, file: string, ...edits: readonly (readonly [string, string])[]): Fault => ({
  name,
  file,
  edits,
})

export const faults: readonly Fault[] = [
  fault('a replacement leaves the last entry of its range', 'surface-order.ts', [
    'this.#nodes.splice(start, end - start + 1, seq)',
    'this.#nodes.splice(start, end - start, seq)',
  ]),
  fault('a replacement forgets where its range stood', 'surface-order.ts', [
    'this.#anchors.set(seq, this.#anchorOf(this.#nodes[start] as SessionSeq))',
    'this.#anchors.set(seq, seq)',
  ]),
  fault('sources need not cover the range', 'replacement.ts', ['  checkCoverage(event, shadowed)\n', '']),
  fault('a range is compared by number instead of by position', 'replacement.ts', [
    'if (start > end) {',
    'if (op.startSeq > op.endSeq) {',
  ]),
  fault('the head is not protected', 'replacement.ts', ['  checkHead(event, start, entries)\n', '']),
  fault('the head is protected from its own kind', 'replacement.ts', [
    "if (event.type !== 'system/message' || entries.length > 1) {",
    "if (event.type !== 'user/message' || entries.length > 1) {",
  ]),
  fault('a result may be rewritten in more than its content', 'replacement.ts', [
    'if (!jsonEqual(withoutContent(entry.data), withoutContent(event.data))) {',
    'if (false) {',
  ]),
  fault('a range may take a call without its answer', 'replacement.ts', ['if (opens.length > 0) {', 'if (false) {']),
  fault('a range may take an answer without its call', 'replacement.ts', ['if (answers.length > 0) {', 'if (false) {']),
  fault(
    'calls and answers are paired by whether an id was ever seen',
    'surface.ts',
    [
      'const repeated = repeatedId(callsOf(event))',
      'const repeated = repeatedId(callsOf(event)) ?? callsOf(event).find((id) => this.#seen.has(id))',
    ],
    [
      'for (const id of callsOf(plan.event)) this.#open.set(id, plan.event.seq)',
      'for (const id of callsOf(plan.event)) { this.#open.set(id, plan.event.seq); this.#seen.add(id) }',
    ],
    ['  #folded = 0\n', '  #folded = 0\n  readonly #seen = new Set<string>()\n'],
  ),
  fault('a batch may open one id twice', 'surface.ts', ['if (repeated !== undefined) refuse(', 'if (false) refuse(']),
  fault('anything may be appended while calls are open', 'surface.ts', ['if (this.#open.size > 0) {', 'if (false) {']),
  fault('an answer needs no call', 'surface.ts', ['if (!this.#open.has(answered)) refuse(', 'if (false) refuse(']),
  fault('an answer leaves its call open', 'surface.ts', [
    'if (answered !== undefined) this.#open.delete(answered)',
    '',
  ]),
  fault('replacements are not checked for balance', 'surface.ts', [
    "if (plan.kind === 'replace') checkBalance(",
    'if (false) checkBalance(',
  ]),
  fault('the generation is not counted', 'surface.ts', ['      this.#replaceGeneration += 1\n', '']),
  fault('a stale plan is applied', 'surface.ts', [
    'if (plan.event.seq !== this.#folded || this.#log.eventAt(this.#folded) !== plan.event) return',
    '',
  ]),
  fault('a plan is applied before the listeners have judged', 'session.ts', [
    '    this.#decide(event)\n    this.#log.push(event)\n    this.#manager.commit(plan)\n',
    '    this.#log.push(event)\n    this.#manager.commit(plan)\n    this.#decide(event)\n',
  ]),
  fault('a veto leaves the session deciding', 'session.ts', ['      this.#isDeciding = false\n', '']),
  fault('an append may nest in another', 'session.ts', ['if (this.#log.length !== seq) refuse(', 'if (false) refuse(']),
  fault('a nested event is delivered at once', 'session.ts', ['    if (this.#isDelivering) return\n', '']),
  fault('a listener added during the dispatch hears the event', 'session.ts', [
    'this.#deliver(event, observers)',
    'this.#deliver(event, this.#observing.current)',
  ]),
  fault('the snapshot of the log outlives an append', 'session.ts', ['    this.#snapshot = undefined\n', '']),
  fault('the derived list outlives a replacement', 'derive.ts', [
    '    this.#messages = undefined\n',
    "    if (plan.kind === 'append') this.#messages = undefined\n",
  ]),
  fault('the derived list keeps the last message of a range', 'derive.ts', [
    'plan.end - plan.start + 1, message',
    'plan.end - plan.start, message',
  ]),
  fault('a silent entry is not counted', 'derive.ts', ['if (message === null) this.#silent += 1', '']),
  fault('an empty message is derived', 'derive.ts', [
    'event.data.message.content.length === 0 ? null : event.data.message',
    'event.data.message',
  ]),
  fault('what is kept is not frozen', 'json.ts', ['      Object.freeze(target)\n', '']),
  fault('what is kept is not a copy', 'json.ts', [
    'const copy = freezeSound(value, maxDepth, clone)',
    'const copy = freezeSound(value, maxDepth, claim)',
  ]),
  fault('-0 is accepted', 'json-value.ts', [
    "return Object.is(value, -0) ? '-0 would come back as 0' : undefined",
    'return undefined',
  ]),
  fault('one level too many is accepted', 'json.ts', [
    'if (depth === maxDepth) return undefined',
    'if (depth > maxDepth) return undefined',
  ]),
  fault('a hidden key stays in what is adopted', 'json.ts', [' || member?.enumerable !== true', '']),
  fault('blocks inside blocks are not looked at', 'content.ts', [
    'if (nested !== undefined) (deeper ??= []).push(nested)',
    '',
  ]),
  fault('an unknown type is accepted', 'acceptance.ts', [
    'if (!known && intent.ignorable !== true) refuseUnknown(given, vocabulary)',
    '',
  ]),
  fault('an unknown type with a place on the surface is kept', 'acceptance.ts', [
    'if (keepUnknown && surfaceOp === undefined)',
    'if (keepUnknown)',
  ]),
  fault('a stored seq is believed', 'acceptance.ts', [
    'if (!isSessionSeq(event.seq) || event.seq !== seq) {',
    'if (false) {',
  ]),
  fault('an error may look like a success', 'payload.ts', [
    'if (error !== undefined && message.content[0].isError !== true) {',
    'if (false) {',
  ]),
  fault('a header may carry the prompt', 'payload.ts', ["if (Object.hasOwn(header, 'system'))", 'if (false)']),
  fault('an event may cite itself', 'placement.ts', ['seq >= candidate.seq', 'seq > candidate.seq']),
  fault('a range may have members of its own', 'placement.ts', [' || Object.keys(value).length !== 3', '']),
  fault(
    'the step is closed before its calls',
    'repair.ts',
    ['  for (const call of calls.values()) closers.push(resultCloser(call, envelope()))\n', ''],
    [
      '  return closers\n',
      '  for (const call of calls.values()) closers.push(resultCloser(call, envelope()))\n  return closers\n',
    ],
  ),
  fault('a closer cites the first record of its call', 'repair.ts', [
    'if (call !== undefined) calls.set(',
    'if (call !== undefined && call.recorded === undefined) calls.set(',
  ]),
  fault('a rewritten result answers a call that came back', 'repair.ts', [
    "if (event.surfaceOp === 'append') calls.delete(",
    'calls.delete(',
  ]),
  fault('closers take the turn that is open instead of the turn of the call', 'repair.ts', [
    '{ callId, turn: event.data.turn, step: event.data.step, recorded: undefined }',
    '{ callId, turn: turn ?? 1, step: 1, recorded: undefined }',
  ]),
  fault('a fork does not mark its cut', 'fork.ts', ['data: { inherited: true }', 'data: {}']),
  fault('a fork leaves out its boundary', 'fork.ts', [
    'parent.events.slice(0, boundary + 1)',
    'parent.events.slice(0, boundary)',
  ]),
  fault('a fork leaves the turn open', 'fork.ts', [
    'stored: [...inherited, marker, ...closers]',
    'stored: [...inherited, marker]',
  ]),
  fault('origins lose the order of the surface', 'provenance.ts', [
    'replacement.shadowedSeqs.toReversed()',
    'replacement.shadowedSeqs',
  ]),
  fault('a vetoed session stays in the store', 'store.ts', ['      this.dispose(session)\n', '']),
  fault('a run loses its first gap', 'stream-codec.ts', [
    'record.dt[member - 1] as number',
    '(record.dt[member] ?? 0)',
  ]),
  fault('a request is rebuilt with the header of later', 'request.ts', ['.slice(0, throughSeq + 1)\n', '\n']),
  fault('a request is rebuilt with the messages of now', 'request.ts', [
    'deriveMessagesAt(events, throughSeq)',
    'deriveMessagesAt(events, events.length - 1)',
  ]),
  fault('a copied answer passes for one of this log', 'request.ts', ['if (origin !== undefined) {', 'if (false) {']),
]
