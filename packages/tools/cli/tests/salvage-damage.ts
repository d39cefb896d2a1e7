import * as fc from 'fast-check'
import { headerLine, sessionLines } from './salvage-support.ts'

const part = fc.double({ min: 0, max: 1, noNaN: true })

/** One thing that happens to the lines of a log, or to its bytes. */
type Damage = (log: Buffer, other: Buffer) => Buffer

function onLines(change: (lines: Buffer[], other: Buffer[]) => Buffer[]): Damage {
  return (log, other) => Buffer.concat(change(linesOf(log), linesOf(other)))
}

/** Lines with their newlines. */
function linesOf(bytes: Buffer): Buffer[] {
  const lines: Buffer[] = []
  for (let at = 0; at < bytes.length;) {
    const end = bytes.indexOf(0x0a, at) + 1 || bytes.length
    lines.push(bytes.subarray(at, end))
    at = end
  }
  return lines
}

function splice(bytes: Buffer, at: number, length: number, middle: Buffer): Buffer {
  return Buffer.concat([bytes.subarray(0, at), middle, bytes.subarray(at + length)])
}

/** Any damage of the kinds that files really suffer. */
const anyDamage: fc.Arbitrary<Damage> = fc
  .record({ from: part, to: part, length: fc.integer({ min: 1, max: 2000 }), bit: fc.nat(7) })
  .chain(({ from, to, length, bit }) => {
    const at = (size: number, where = from): number => Math.floor(where * size)
    const damages: Record<string, Damage> = {
      flip: (log) => {
        const copy = Buffer.from(log)
        const place = at(copy.length)
        if (place < copy.length) copy[place] = (copy[place] ?? 0) ^ (1 << bit)
        return copy
      },
      cut: (log) => splice(log, at(log.length), length, Buffer.alloc(0)),
      end: (log) => log.subarray(0, at(log.length)),
      begin: (log) => log.subarray(at(log.length)),
      nul: (log) => splice(log, at(log.length), length, Buffer.alloc(length)),
      binary: (log) =>
        splice(log, at(log.length), 0, Buffer.from(Array.from({ length }, (_, index) => (index * 167 + bit) & 0xff))),
      lineFrom: onLines((lines) =>
        lines.toSpliced(at(lines.length, to), 0, lines[at(lines.length)] ?? Buffer.alloc(0)),
      ),
      swap: onLines((lines) => {
        const [left, right] = [at(lines.length), at(lines.length, to)]
        return lines.map((line, index) => lines[index === left ? right : index === right ? left : index] ?? line)
      }),
      glue: (log) => {
        const end = log.indexOf(0x0a, at(log.length))
        return end === -1 ? log : splice(log, end, 1, Buffer.alloc(0))
      },
      interleave: onLines((lines, other) => {
        const fork = at(lines.length)
        return [
          ...lines.slice(0, fork),
          ...lines.slice(fork).flatMap((line, index) => [line, other[fork + index] ?? Buffer.alloc(0)]),
        ]
      }),
      append: (log, other) => Buffer.concat([log, other]),
      branch: onLines((lines, other) => [...lines, ...other.slice(1 + at(other.length - 1))]),
    }
    return fc.constantFrom(...Object.values(damages))
  })

/** A damaged log of a coding session, its lines marked as batches or not. */
export const anyDamagedLog: fc.Arbitrary<Buffer> = fc
  .record({
    seeds: fc.tuple(fc.nat(1000), fc.nat(1000)),
    events: fc.integer({ min: 1, max: 60 }),
    isMarked: fc.boolean(),
    damages: fc.array(anyDamage, { minLength: 1, maxLength: 4 }),
  })
  .map(({ seeds, events, isMarked, damages }) => {
    const [log, other] = seeds.map((seed, index) =>
      Buffer.from(
        [headerLine(`s${index}`), ...sessionLines(seed, events)]
          .map((line) => `${line}${isMarked ? ' ' : ''}\n`)
          .join(''),
      ),
    )
    return damages.reduce<Buffer>((bytes, damage) => damage(bytes, other ?? bytes), log ?? Buffer.alloc(0))
  })
