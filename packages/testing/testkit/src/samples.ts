import { existsSync, readdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const folder = fileURLToPath(new URL('../../../../../shared/samples/', import.meta.url))

/** Agents of which there are real session files beside the repository. */
export type SampledAgent = 'claude-code' | 'codex' | 'deepseek-harness' | 'pi'

/**
 * Real session files of an agent, as `agent/name`, sorted; none where they are absent. They stand beside the repository: a
 * test that needs them skips then.
 */
export function samplesOf(agent: SampledAgent): readonly string[] {
  if (!existsSync(`${folder}${agent}`)) return []
  return readdirSync(`${folder}${agent}`)
    .sort()
    .map((name) => `${agent}/${name}`)
}

/** Real session files of Claude Code, by name: those that tests name whether or not they are there. */
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

/** Absolute path of a sample, there or not: `agent/name`, or the bare name of one of Claude Code. */
export function samplePath(name: string): string {
  return `${folder}${name.includes('/') ? name : `claude-code/${name}`}`
}

export function isSampleAbsent(name: string): boolean {
  return !existsSync(samplePath(name))
}
