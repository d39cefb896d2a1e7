import type { AttachmentRef, ContentBlock, EventOf, SessionEvent } from '@palimpsest/session'
import type { MarkdownOptions } from './export.ts'
import type { LogFacts } from './log-facts.ts'
import { fenced, inline, linkTarget, prose } from './safe-text.ts'
import { timeText } from './time-text.ts'

/** Writes single entries of a transcript. */
export class EntryWriter {
  readonly #facts: LogFacts
  readonly #options: MarkdownOptions

  constructor(facts: LogFacts, options: MarkdownOptions) {
    this.#facts = facts
    this.#options = options
  }

  /** The parts of an entry, to stand with an empty line between them. */
  entry(event: SessionEvent): string[] {
    return [this.#heading(event), ...this.#place(event), ...this.#body(event)]
  }

  #heading(event: SessionEvent): string {
    return `### ${this.#speaker(event)} · ${timeText(event.time)} · #${event.seq}`
  }

  #speaker(event: SessionEvent): string {
    switch (event.type) {
      case 'system/message':
        return 'System'
      case 'user/message': {
        const { source } = event.data
        return source.kind === 'user' ? 'User' : `Plugin ${inline(pluginName(source))}`
      }
      case 'assistant/message':
        return `Model ${inline(event.data.message.source.model)}`
      case 'tool/result':
        return `Result of ${inline(this.#facts.callName(event.seq) || event.data.message.source.callId)}`
      default:
        return 'Failed response'
    }
  }

  /** Where it stands to the surface, if that needs saying. */
  #place({ seq }: SessionEvent): string[] {
    const covered = this.#facts.coveredBy(seq)
    const by = this.#facts.replacedBy(seq)
    const [first, last] = [covered[0], covered.at(-1)]
    const range = first === last ? `#${first}` : `#${first} to #${last}, ${covered.length} entries`
    return [
      ...(covered.length === 0 ? [] : [`*Stands for ${range}. What is replaced stays in the log.*`]),
      ...(by === undefined ? [] : [`*Replaced by #${by}.*`]),
    ]
  }

  #body(event: SessionEvent): string[] {
    switch (event.type) {
      case 'user/message':
        return this.#blocks(event.data.content)
      case 'system/message':
        return this.#blocks(event.data.message.content)
      case 'assistant/message': {
        const cut = event.data.interrupted === true ? ['*Interrupted: this had arrived.*'] : []
        return [...this.#blocks(event.data.message.content), ...cut]
      }
      case 'tool/result':
        return this.#result(event)
      case 'assistant/attempt':
        return [fenced(JSON.stringify(event.data.failure ?? null), 'json')]
      default:
        return []
    }
  }

  #blocks(content: readonly ContentBlock[]): string[] {
    return content.length === 0 ? ['*Empty.*'] : content.flatMap((block) => this.#block(block))
  }

  #block(block: ContentBlock): string[] {
    switch (block.type) {
      case 'text':
        return [prose(block.text)]
      case 'reasoning':
        return ['<details><summary>Reasoning</summary>', fenced(block.text, 'text'), '</details>']
      case 'tool-call':
        return [`**Call ${inline(block.name)}** (${inline(block.id)})`, fenced(block.arguments, 'json')]
      case 'image':
        return [this.#attachment(block.attachment, '!')]
      default:
        return [`*Block of type ${inline(block.type)}:*`, fenced(JSON.stringify(block), 'json')]
    }
  }

  #attachment(ref: AttachmentRef, mark: '!' | ''): string {
    const url = this.#options.link?.(ref)
    const { mediaType, bytes, name, attachmentId } = ref
    if (url !== undefined) return `${mark}[${inline(name ?? mediaType)}](${linkTarget(url)})`
    const called = name === undefined ? '' : ` ${inline(name)}`
    return `*Attachment${called}: ${inline(mediaType)}, ${bytes} bytes, ${inline(attachmentId)}*`
  }

  #result({ data }: EventOf<'tool/result'>): string[] {
    const [{ content, isError }] = data.message.content
    const code = data.error === undefined ? '' : ` ${inline(data.error.code ?? data.error.name)}`
    const failed = isError === true ? [`**Error**${code}`] : []
    if (content.length === 0) return [...failed, '*Empty.*']
    return [
      ...failed,
      ...content.flatMap((block) => (block.type === 'text' ? this.#output(block.text) : this.#block(block))),
    ]
  }

  /** What a tool printed, cut where the options say so. */
  #output(text: string): string[] {
    const { resultLength = Infinity } = this.#options
    if (text.length <= resultLength) return [fenced(text, 'text')]
    // A pair of surrogates stays whole.
    const end = /[\ud800-\udbff]/.test(text.charAt(resultLength - 1)) ? resultLength - 1 : resultLength
    const shown = text.slice(0, Math.max(0, end))
    return [fenced(shown, 'text'), `*Cut: ${text.length - shown.length} of ${text.length} characters are left out.*`]
  }
}

function pluginName(source: EventOf<'user/message'>['data']['source']): string {
  return source.kind === 'plugin' ? source.plugin : source.kind
}
