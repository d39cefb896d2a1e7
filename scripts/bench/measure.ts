import type { Sample } from './figures.ts'

/** Collects garbage, so that no side pays for the other's; the program runs with `--expose-gc`. */
export function collectGarbage(): void {
  const { gc } = globalThis
  if (gc === undefined) throw new Error('run this program with --expose-gc')
  gc()
}

/** Adds up the time of the tasks that run in it. */
export class Stopwatch {
  #wall = 0
  #cpu = 0

  time<Result>(task: () => Result): Result {
    const cpu = process.cpuUsage()
    const start = performance.now()
    const result = task()
    this.#wall += performance.now() - start
    const spent = process.cpuUsage(cpu)
    this.#cpu += (spent.user + spent.system) / 1000
    return result
  }

  get sample(): Sample {
    return { wall: this.#wall, cpu: this.#cpu }
  }
}

const warmUp = 3

/**
 * Samples of both sides, taken in turn; who goes first alternates. The first rounds warm up the compiler and are left
 * out.
 */
export function interleave(
  rounds: number,
  ours: () => Sample,
  theirs: () => Sample,
): { readonly ours: Sample; readonly theirs: Sample }[] {
  const sampled = (side: () => Sample): Sample => {
    collectGarbage()
    return side()
  }
  return Array.from({ length: warmUp + rounds }, (_, round) => {
    if (round % 2 === 0) {
      const first = sampled(ours)
      return { ours: first, theirs: sampled(theirs) }
    }
    const first = sampled(theirs)
    return { ours: sampled(ours), theirs: first }
  }).slice(warmUp)
}
