/** One public report of an agent session that broke, and what keeps that kind of fault out of ours. */
export interface ConformanceCase {
  readonly id: string
  readonly kind: string
  /** Where it was reported: a path on GitHub. */
  readonly report: string
  /** What went wrong there, in a few words. */
  readonly fault: string
  /** The case itself must be a test whose title begins with the id, skipped under no condition. */
  readonly runsById?: true
  /** Tests that would fail on any fault of the kind: `area/package/spec: begin of the title`. Those by id are found. */
  readonly laws?: readonly string[]
  /** Why the fault has no place here at all. */
  readonly byDesign?: string
  /** What is still to be made. */
  readonly missing?: string
}
