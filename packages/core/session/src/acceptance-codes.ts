/** Why a candidate event was refused. SPEC 3.1 and 3.2. */
export type AcceptanceCode =
  | 'envelope/keys'
  | 'envelope/seq'
  | 'envelope/time'
  | 'envelope/json'
  | 'vocabulary/unknown'
  | 'payload/invalid'
  | 'payload/content'
  | 'payload/tool-error'
  | 'payload/header'
  | 'surface/missing-op'
  | 'surface/forbidden'
  | 'surface/invalid-op'
  | 'sources/forbidden'
  | 'sources/invalid'
  | 'sources/uncovered'
  | 'replace/not-on-surface'
  | 'replace/reversed'
  | 'replace/tool-result'
  | 'replace/system-head'
  | 'pairing/unknown-call'
  | 'pairing/duplicate-call'
  | 'pairing/open-calls'
  | 'pairing/split'
  | 'append/reentrant'

/** What one refusal means to a person, and what to do about it. */
export interface AcceptanceCodeDoc {
  readonly meaning: string
  readonly wayOut: string
  /** Section of the specification that holds the rule. */
  readonly section: string
}

/** Every acceptance code with its meaning and way out; `docs/acceptance-codes.md` is generated from this record. */
export const acceptanceCodes: Readonly<Record<AcceptanceCode, AcceptanceCodeDoc>> = {
  'envelope/keys': {
    meaning:
      'The event or its intent has a member that no event has, lacks one that every event has, or marks itself ignorable with something other than `true`.',
    wayOut:
      'Give exactly `type`, `seq`, `time`, `data` and, where they apply, `surfaceOp`, `sourceEventSeqs`, `ignorable: true`. Put extensions inside `data`.',
    section: '2.1',
  },
  'envelope/seq': {
    meaning: 'The seq is not the length of the log, so the log would have a gap or a repetition.',
    wayOut:
      'Let `append` number the event. In a seed or a stored log, find the missing or repeated event; `palimpsest salvage` keeps what is readable.',
    section: '2.1',
  },
  'envelope/time': {
    meaning: 'The time is not an integer number of milliseconds.',
    wayOut: 'Pass Unix epoch milliseconds as a safe integer, as `Date.now()` gives them.',
    section: '2.1',
  },
  'envelope/json': {
    meaning:
      'The payload holds something that JSON would lose or cannot write: undefined, a function, a symbol, a bigint, NaN, an infinity, -0, a cycle, a hole in an array, a hidden key, an exotic object, or more than 1,000 levels.',
    wayOut:
      'Convert the value before it is appended; `toJson(value)` drops undefined members. The message names the path.',
    section: '3.1',
  },
  'vocabulary/unknown': {
    meaning: 'The event type is not in the vocabulary of this session, or is retired in it.',
    wayOut:
      "Compose the vocabulary of the plugin that owns the type (`coreEvents.extend(pluginEvents)`), mark the event `ignorable: true` when readers may skip it, or restore with `{ unknown: 'keep' }` to read the log all the same.",
    section: '2.2',
  },
  'payload/invalid': {
    meaning:
      'The payload does not match the schema of its type: a member is missing or of the wrong kind, an id is empty, or the role, source or call id does not fit the type.',
    wayOut: 'Correct the member that the message names; `docs/event-catalog.md` lists every schema.',
    section: '2.3',
  },
  'payload/content': {
    meaning: 'A content block stands where its type may not stand, at some depth.',
    wayOut:
      'Calls belong in `assistant/message`, answers in `tool/result`, reasoning in `assistant/message`; blocks of your own only in `user/message`.',
    section: '2.4',
  },
  'payload/tool-error': {
    meaning:
      'A tool result carries `error` but its block does not say `isError: true`, so the model would read a failure as a success.',
    wayOut: 'Set `isError: true` on the result block, or leave `error` out.',
    section: '3.1',
  },
  'payload/header': {
    meaning: 'A request header carries a system prompt, an empty tool list, or empty adapter defaults.',
    wayOut: 'Make the prompt a `system/message`; leave empty `tools` and `adapterDefaults` out.',
    section: '3.1',
  },
  'surface/missing-op': {
    meaning: 'A surface event does not say how it joins the surface.',
    wayOut: "Pass `{ surfaceOp: 'append' }` or a replace object as the intent.",
    section: '1',
  },
  'surface/forbidden': {
    meaning: 'A log-only event carries `surfaceOp` or `sourceEventSeqs`.',
    wayOut: 'Leave both out: only system, user, assistant and tool result messages stand on the surface.',
    section: '2.1',
  },
  'surface/invalid-op': {
    meaning: "`surfaceOp` is neither `'append'` nor exactly `{ op: 'replace', startSeq, endSeq }` with two seqs.",
    wayOut: 'Use these three keys and no alias such as `start` or `end`.',
    section: '2.1',
  },
  'sources/forbidden': {
    meaning: 'An assistant message cites sources. It comes from the model, so it cites nothing and can only append.',
    wayOut: 'Leave `sourceEventSeqs` out. To put text in place of a range, append a `user/message` that replaces it.',
    section: '2.1',
  },
  'sources/invalid': {
    meaning: '`sourceEventSeqs` is not a non-empty array of distinct seqs of earlier events.',
    wayOut:
      'Cite each event once, and only events that are in the log already; leave the member out when there is nothing to cite.',
    section: '3.1',
  },
  'sources/uncovered': {
    meaning: 'A replacement does not cite every surface entry that it shadows.',
    wayOut: 'Add the seqs that the message names, or choose the range that you meant.',
    section: '1',
  },
  'replace/not-on-surface': {
    meaning: 'An end of the replaced range is not on the surface now: it never was, or a later entry shadows it.',
    wayOut:
      'Read `session.surface.nodes` and name an entry that stands there; the message says what stands for the missing one.',
    section: '3.1',
  },
  'replace/reversed': {
    meaning: 'The range ends before it starts, by position on the surface.',
    wayOut: 'Swap the ends. Position counts, not the number: a replacement stands where its range stood.',
    section: '3.1',
  },
  'replace/tool-result': {
    meaning:
      'A `tool/result` replaces something other than one tool result, or changes more of it than the content of its block.',
    wayOut: 'Copy the data of the result, change only the `content` inside its block, and replace that entry alone.',
    section: '3.1',
  },
  'replace/system-head': {
    meaning:
      'A replacement covers the system prompt at the head of the surface, but is not a `system/message` over exactly that entry.',
    wayOut:
      'Start the range after entry 0; to change or clear the prompt, replace entry 0 alone with a `system/message`.',
    section: '3.1',
  },
  'pairing/unknown-call': {
    meaning: 'A tool result answers a call that is not open: nobody made it, or it was answered already.',
    wayOut: 'Append the assistant message that makes the call first. Record a late answer as `tool/late-result`.',
    section: '3.1',
  },
  'pairing/duplicate-call': {
    meaning: 'An assistant message opens the same call id twice.',
    wayOut: 'Mint a fresh id (`<id>~2`) for the second call and keep the original in `replayState`.',
    section: '2.4',
  },
  'pairing/open-calls': {
    meaning: 'Something other than a tool result is appended while calls are unanswered.',
    wayOut: 'Answer the calls that the message names first; after a crash, append `interruptedTurnClosers(events)`.',
    section: '3.1',
  },
  'pairing/split': {
    meaning: 'A replacement would take a call without its answer, or an answer without its call.',
    wayOut: 'Widen or narrow the range until it holds whole pairs.',
    section: '3.1',
  },
  'append/reentrant': {
    meaning:
      'An append began while another one of the same session was being judged: in a listener of `internal/dispatch`, the clock, or an accessor of the payload.',
    wayOut: 'Append from a `session/event` listener, which runs after the commit.',
    section: '3.2',
  },
}
