import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const folder = fileURLToPath(new URL('../../../../../shared/samples/claude-code/', import.meta.url))

/** Real session files of Claude Code. They stand beside the repository and may be absent: skip what needs them then. */
export const claudeCodeSamples: readonly string[] = [
  'ac-full-session-askuserquestion.jsonl',
  'ac-full-session-five.jsonl',
  'ccl-0d3a8e6f.jsonl',
  'ccl-29ccd257.agent-a2271d1.jsonl',
  'ccl-7acd37a8.jsonl',
  'ccl-a7da6a22.jsonl',
  'ccl-dag_fork.jsonl',
  'ccl-edge_cases.jsonl',
  'ccl-ef958aa1.jsonl',
  'ccl-sidechain.jsonl',
  'ccv-5c0375b4.jsonl',
  'fh-main.jsonl',
]

/** Absolute path of a sample, there or not. */
export function samplePath(name: string): string {
  return `${folder}${name}`
}

export function isSampleAbsent(name: string): boolean {
  return !existsSync(samplePath(name))
}
