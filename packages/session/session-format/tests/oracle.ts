interface Row {
  readonly type: string
  readonly data: {
    readonly message?: Message
    readonly texts?: readonly string[]
    readonly args?: readonly string[]
    readonly header?: { readonly system?: string }
  }
  readonly surfaceOp?:
    | 'append'
    | { readonly start?: number; readonly end?: number; readonly startSeq?: number; readonly endSeq?: number }
  readonly id?: string
}
interface Message {
  readonly id?: string
  readonly content: readonly unknown[]
}

/** What a model saw at the end of a log. From version 2 on its prompt may stand among the messages. */
export interface Seen {
  /** The prompt in force; empty where there is none. */
  readonly system: string
  readonly messages: readonly Message[]
}

/** Reads the text of a log of any old version on its own few lines, and folds its surface the slow way. */
export function seen(text: string): Seen {
  const [header, ...rows] = text
    .trimEnd()
    .split('\n')
    // A last line that was cut off says nothing.
    .filter((line) => line.endsWith('}'))
    .map((line) => JSON.parse(line) as Row)
  let seq = 0
  let system = ''
  const surface: { readonly seq: number; readonly message: Message }[] = []
  for (const { type, data, surfaceOp } of rows) {
    const packed = type.endsWith('-chunks') ? (data.texts ?? data.args ?? []).length : 1
    if (type === 'request/header') system = data.header?.system ?? ''
    if (surfaceOp !== undefined) {
      const message = type === 'user/message' ? (data as unknown as Message) : (data.message as Message)
      const entry = { seq, message: { id: `legacy-message:${header?.id}:${seq}`, ...message } }
      const place = (named: number | undefined): number => surface.findIndex((each) => each.seq === named)
      if (surfaceOp === 'append') surface.push(entry)
      else {
        const from = place(surfaceOp.startSeq ?? surfaceOp.start)
        surface.splice(from, place(surfaceOp.endSeq ?? surfaceOp.end) - from + 1, entry)
      }
    }
    seq += packed
  }
  return { system, messages: surface.map(({ message }) => message).filter(({ content }) => content.length > 0) }
}
