/** Prints what a check found and sets the exit code: 1 when there is a fault. `summary` says what was looked at. */
export function report(check: string, faults: readonly string[], summary: string): void {
  for (const fault of faults) console.log(fault)
  if (faults.length > 0) process.exitCode = 1
  console.log(`${check}: ${faults.length === 0 ? 'ok' : `${faults.length} fault(s)`}, ${summary}`)
}
