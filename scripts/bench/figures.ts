/** Time that one task took, in milliseconds: on the wall, and of all processor threads of the process. */
export interface Sample {
  readonly wall: number
  readonly cpu: number
}

/** What a row is held to. `faster`: theirs ÷ ours is at least `times`. `share`: ours ÷ theirs is at most `times`. */
export interface Bar {
  readonly kind: 'faster' | 'share'
  readonly times: number
}

/** One row of SPEC 10: a sample of each side per round, taken close together. */
export interface Comparison {
  readonly name: string
  /** What one sample covers, such as `20,000 events`. */
  readonly work: string
  /** How many units a sample covers, for a rate; absent where only the time counts. */
  readonly units?: number
  readonly against: string
  readonly bar: Bar
  readonly rounds: readonly { readonly ours: Sample; readonly theirs: Sample }[]
}

export interface Spread {
  readonly min: number
  readonly median: number
  readonly max: number
}

export function spread(values: readonly number[]): Spread {
  if (values.length === 0) throw new RangeError('a spread needs at least one value')
  const sorted = values.toSorted((a, b) => a - b)
  const at = (index: number): number => sorted[index] as number
  const middle = (sorted.length - 1) / 2
  return { min: at(0), median: (at(Math.floor(middle)) + at(Math.ceil(middle))) / 2, max: at(sorted.length - 1) }
}

/** The ratio of each round in the bar's direction, so that a disturbance hits both sides of one figure. */
export function ratios({ bar, rounds }: Comparison, clock: keyof Sample): Spread {
  return spread(
    rounds.map(({ ours, theirs }) =>
      bar.kind === 'faster' ? theirs[clock] / ours[clock] : ours[clock] / theirs[clock],
    ),
  )
}

function reaches({ bar }: Comparison, { median }: Spread): boolean {
  return bar.kind === 'faster' ? median >= bar.times : median <= bar.times
}

const times = (value: number): string => `${value.toFixed(2)}×`

function pace({ rounds, units }: Comparison, side: 'ours' | 'theirs'): string {
  const { median } = spread(rounds.map((round) => round[side].wall))
  if (units === undefined) return `${median < 10 ? median.toFixed(3) : median.toFixed(0)} ms`
  return `${Math.round(units / (median / 1000)).toLocaleString('en-US')}/s`
}

/**
 * A row as lines for people, judged by both clocks: the wall is what a user waits for, but has a neighbour's work in it;
 * processor time has the helper threads of the garbage collector in it.
 */
export function rendered(comparison: Comparison): string {
  const { name, work, against, bar } = comparison
  const ratioLine = (clock: keyof Sample): string => {
    const found = ratios(comparison, clock)
    const verdict = reaches(comparison, found) ? 'reached' : 'NOT reached'
    return `  ${clock.padEnd(4)}  ${times(found.median)}  (min ${times(found.min)}, max ${times(found.max)})  ${verdict}`
  }
  return [
    `${name}: ${work}`,
    `  ours ${pace(comparison, 'ours')}, ${against} ${pace(comparison, 'theirs')}`,
    `  bar   ${bar.kind === 'faster' ? '≥' : '≤'} ${times(bar.times)}`,
    ratioLine('wall'),
    ratioLine('cpu'),
    '',
  ].join('\n')
}
