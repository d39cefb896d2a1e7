/**
 * The JSON of a value in memory, and its text. Bytes become base64, `undefined` in a list `null`, as in any JSON. A
 * value that JSON cannot hold as a whole is written element by element; an element that cannot be written becomes `null`.
 */
export function foreignJson(value: unknown): { readonly value: unknown; readonly text: string } {
  const whole = written(value)
  const list = whole === undefined && Array.isArray(value) ? (value as readonly unknown[]) : []
  const text = whole ?? `[${list.map((element) => written(element) ?? 'null').join(',')}]`
  return { value: JSON.parse(text), text }
}

function written(value: unknown): string | undefined {
  try {
    return JSON.stringify(value, bytesAsText)
  } catch {
    // A cycle, a bigint, a depth beyond the stack, or a member that throws when it is read.
    return undefined
  }
}

/** Called with the holder as `this`: a `Buffer` has become an object by itself before `value` is handed over. */
function bytesAsText(this: unknown, name: string, value: unknown): unknown {
  const given = (this as Readonly<Record<string, unknown>>)[name]
  if (given instanceof Uint8Array) return Buffer.from(given).toString('base64')
  return given instanceof ArrayBuffer ? Buffer.from(given).toString('base64') : value
}
