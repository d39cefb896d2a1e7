/**
 * Whole lines of an input, without their ends, until it or the signal ends. Only a line feed ends a line, with or
 * without a carriage return before it.
 */
export async function* linesOf(input: AsyncIterable<string | Uint8Array>, signal: AbortSignal): AsyncGenerator<string> {
  const decoder = new TextDecoder()
  let rest = ''
  for await (const chunk of untilAborted(input, signal)) {
    const lines = (rest + (typeof chunk === 'string' ? chunk : decoder.decode(chunk, { stream: true }))).split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) yield line.endsWith('\r') ? line.slice(0, -1) : line
    if (signal.aborted) return
  }
  rest += decoder.decode()
  if (rest !== '' && !signal.aborted) yield rest
}

/** An input that nobody types into never ends, so the signal does not wait for it. */
async function* untilAborted<T>(input: AsyncIterable<T>, signal: AbortSignal): AsyncGenerator<T> {
  const aborted = new Promise<undefined>((resolve) => {
    if (signal.aborted) resolve(undefined)
    signal.addEventListener('abort', () => resolve(undefined), { once: true })
  })
  const iterator = input[Symbol.asyncIterator]()
  for (;;) {
    const next = await Promise.race([iterator.next(), aborted])
    if (next === undefined || next.done === true) return
    yield next.value
  }
}
