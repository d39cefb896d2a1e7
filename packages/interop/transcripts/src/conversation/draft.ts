import type {
  AssistantBlock,
  Json,
  JsonObject,
  RequestConfig,
  ResultContentBlock,
  TextBlock,
  TokenUsage,
  ToolError,
  TurnEndReason,
  UserBlock,
} from '@palimpsest/session'

/** Where something stands in its source. */
export interface DraftOrigin {
  /** Lines of the source that it is made of, from 1, ascending. For arrays of messages: elements, from 1. */
  readonly lines: readonly number[]
  /** Epoch milliseconds; that of the draft before where the source says none. */
  readonly time?: number
  /** The source's own id of the message; made unique in the session. `line-N` where there is none. */
  readonly id?: string
  /** What other drafts name it by; need not be unique. */
  readonly key?: string
  /** Further members of the message's source. */
  readonly members?: JsonObject
}

/** Something said to the model by a user, or by the agent's program in the user's role. */
export interface DraftUser {
  readonly kind: 'user'
  readonly origin: DraftOrigin
  readonly content: readonly UserBlock[]
  /** Members of a plugin's source, where no person said it. */
  readonly plugin?: JsonObject
  /** Whether a turn begins here: a real prompt, as against context, reminders and outputs. */
  readonly opensTurn: boolean
}

/** One response of the model. Its calls carry the ids that the source wrote: possibly empty, possibly repeated. */
export interface DraftModel {
  readonly kind: 'model'
  readonly origin: DraftOrigin
  readonly provider: string
  readonly model: string
  readonly blocks: readonly DraftBlock[]
  /** `replayState.response`: ids and stop reasons that the provider gave. */
  readonly response?: JsonObject
  readonly usage?: TokenUsage
  /** Cut off by an abort: the visible prefix only. */
  readonly interrupted?: true
  /** How the turn ended where it ended with this response; `completed` unless given. */
  readonly ends?: TurnEndReason
}

/** A block with the private data that it needs to be sent back, `null` for none. SPEC 2.4. */
export interface DraftBlock {
  readonly block: AssistantBlock
  readonly replay: Json
  /** Epoch milliseconds of a call, where the source says it apart from the response's. */
  readonly time?: number
  /** What results name a call by beside its id; need not be unique. */
  readonly key?: string
}

/** A response that brought no message. */
export interface DraftAttempt {
  readonly kind: 'attempt'
  readonly origin: DraftOrigin
  readonly failure: Json
}

/** The answer to a call. It is paired with an outstanding call of its id, wherever it stands. */
export interface DraftResult {
  readonly kind: 'result'
  readonly origin: DraftOrigin
  readonly callId: string
  /** Key of the call block that it answers, where the source says so. */
  readonly callKey?: string
  readonly content: readonly ResultContentBlock[]
  /** The source's types of what no result can hold and stands as text in `content`. */
  readonly asText?: readonly string[]
  readonly isError: boolean
  readonly error?: ToolError
  /** What the source keeps of the result beside what the model read. */
  readonly meta?: Json
}

/** A system prompt. `head`: it is the prompt from here on. `here`: it stands where it stands, as one more entry. */
export interface DraftSystem {
  readonly kind: 'system'
  readonly origin: DraftOrigin
  readonly content: readonly TextBlock[]
  readonly place: 'head' | 'here'
  /** Further members of the message's source. */
  readonly plugin?: JsonObject
}

/** Settings of the requests from here on, beside provider and model. */
export interface DraftSetting {
  readonly kind: 'setting'
  readonly config: Partial<RequestConfig>
}

/** The end of the turn, where the source marks it. */
export interface DraftTurnEnd {
  readonly kind: 'turn-end'
  readonly origin: DraftOrigin
  readonly reason: TurnEndReason
}

/** Entries of the surface that something stands for, or nothing at all. SPEC 1.7. */
export interface DraftReplace {
  readonly kind: 'replace'
  readonly origin: DraftOrigin
  readonly why: 'compaction' | 'rollback'
  /** Key of the first draft that is covered; all behind the head where absent. */
  readonly from?: string
  /** Keys of drafts that stay visible: what is covered ends before the first of them. */
  readonly keeps?: ReadonlySet<string>
  /** What stands for them; where absent they leave without a trace that a model could read. */
  readonly by?: DraftUser
}

/** A line to keep as it stands, whether or not it is mapped too. */
export interface DraftRaw {
  readonly kind: 'raw'
  readonly line: number
  /** One of the codes of the README. */
  readonly reason: string
  /** The source's own name of what the line is. */
  readonly type?: string
}

/**
 * One piece of a conversation as a format's reader found it, in the order in which it happened. Readers know their
 * format and nothing of logs; the writer knows logs and nothing of formats.
 */
export type Draft =
  | DraftUser
  | DraftModel
  | DraftAttempt
  | DraftResult
  | DraftSystem
  | DraftSetting
  | DraftTurnEnd
  | DraftReplace
  | DraftRaw
