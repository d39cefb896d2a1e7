/** ISO 8601 in UTC, or the number where no date can say it. Epoch milliseconds. */
export function timeText(time: number): string {
  const date = new Date(time)
  return Number.isNaN(date.getTime()) ? String(time) : date.toISOString()
}
