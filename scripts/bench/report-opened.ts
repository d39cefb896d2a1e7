import type { Sample } from './figures.ts'

/** What a program that opened a log prints: the time since its process began, module loading included. */
export interface Opened extends Sample {
  readonly events: number
}

/** `retained` is whatever the program must still hold when the time is taken. */
export function reportOpened(retained: object, events: number): void {
  const { user, system } = process.cpuUsage()
  const opened: Opened = { wall: performance.now(), cpu: (user + system) / 1000, events }
  console.log(JSON.stringify(opened), Object.keys(retained).length === -1 ? retained : '')
}
