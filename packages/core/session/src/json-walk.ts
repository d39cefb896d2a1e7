import {
  type Container,
  type Json,
  type JsonFault,
  MAX_JSON_DEPTH,
  NotJson,
  type Walked,
  memberNames,
  scalarFault,
  setMember,
} from './json-value.ts'

interface Frame {
  readonly source: Container
  readonly target: Container
  /** Member names of an object; absent for an array. */
  readonly names: readonly string[] | undefined
  readonly length: number
  next: number
}

function open(source: object): Frame {
  const names = memberNames(source)
  if (names !== undefined && names.length > Object.keys(source).length) throw new NotJson('a hidden key would be lost')
  const length = names === undefined ? (source as unknown[]).length : names.length
  return { source: source as Container, target: names === undefined ? [] : {}, names, length, next: 0 }
}

/**
 * The careful copy: member by member, so that it can say where a fault is, and leave undefined members out. Iterative,
 * so that hostile depth meets the limit and not the end of the stack.
 */
export function walkJson(root: unknown, maxDepth: number, dropUndefined: boolean): Walked {
  const rootFault = scalarFault(root)
  if (rootFault !== undefined) return { fault: { path: '', reason: rootFault } }
  if (typeof root !== 'object' || root === null) return { value: root as Json }
  const frames: Frame[] = []
  try {
    frames.push(open(root))
    const copy = frames[0]?.target as Json
    for (let frame = frames[0]; frame !== undefined; frame = frames.at(-1)) {
      if (frame.next === frame.length) {
        Object.freeze(frame.target)
        frames.pop()
        continue
      }
      const key = frame.names === undefined ? frame.next : (frame.names[frame.next] as string)
      frame.next += 1
      const value = (frame.source as Record<string | number, unknown>)[key]
      if (typeof value === 'object' && value !== null) {
        if (frames.length === maxDepth) {
          throw new NotJson(isCyclic(frames) ? 'a cycle cannot be written' : `more than ${MAX_JSON_DEPTH} levels`)
        }
        const child = open(value)
        setMember(frame.target, key, child.target)
        frames.push(child)
        continue
      }
      if (value === undefined && dropUndefined && frame.names !== undefined) continue
      const fault = scalarFault(value)
      if (fault !== undefined) throw new NotJson(fault)
      setMember(frame.target, key, value)
    }
    return { value: copy }
  } catch (error) {
    const reason = error instanceof NotJson ? error.reason : `reading it failed: ${String(error)}`
    return { fault: faultAt(frames, reason) }
  }
}

function faultAt(frames: readonly Frame[], reason: string): JsonFault {
  const path = frames.map(({ names, next }) => (names === undefined ? `[${next - 1}]` : `.${names[next - 1]}`)).join('')
  const [root] = frames
  const member = root?.names?.[root.next - 1]
  const shown = path.length > 200 ? `${path.slice(0, 200)}…` : path
  return { path: shown, ...(member === undefined ? {} : { member }), reason }
}

function isCyclic(frames: readonly Frame[]): boolean {
  return new Set(frames.map(({ source }) => source)).size < frames.length
}
