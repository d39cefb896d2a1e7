/** What one conversation did. */
export interface Tally {
  conversations: number
  requests: number
  compactions: number
  overflows: number
  prunings: number
  aborts: number
  /** Logs that were cut after an orderly stop; real kills have tests of their own. */
  cuts: number
  /** Appends, replacements and compactions while an answer was on its way. */
  landings: number
  forks: number
  resumes: number
  undos: number
  /** Turns that ended since nothing made the prompt small enough. */
  stuck: number
  switches: number
  bodies: number
  late: number
  /** Blocks of reasoning that went back. */
  reasoning: number
  /** What a server refused though no script had told it to. */
  refusals: number
}

export function emptyTally(): Tally {
  return {
    conversations: 0,
    requests: 0,
    compactions: 0,
    overflows: 0,
    prunings: 0,
    aborts: 0,
    cuts: 0,
    landings: 0,
    forks: 0,
    resumes: 0,
    undos: 0,
    stuck: 0,
    switches: 0,
    bodies: 0,
    late: 0,
    reasoning: 0,
    refusals: 0,
  }
}

export function addTally(sum: Tally, one: Tally): void {
  for (const name of Object.keys(one) as (keyof Tally)[]) sum[name] += one[name]
}
