import type { UserBlock } from '@palimpsest/session'

/** How texts begin and end that the CLI puts before the model in the user's role. */
const frames: readonly (readonly [opening: string, closing: string])[] = [
  ['# agents.md instructions', '</instructions>'],
  ['<environment_context>', '</environment_context>'],
  ['<user_instructions>', '</user_instructions>'],
  ['<skill>', '</skill>'],
  ['<user_shell_command>', '</user_shell_command>'],
  ['<turn_aborted>', '</turn_aborted>'],
  ['<subagent_notification>', '</subagent_notification>'],
  ['<goal_context>', '</goal_context>'],
]

/** Whether a user message is context of the program: history, but no prompt and no turn. FORMATS 2. */
export function isContext(content: readonly UserBlock[]): boolean {
  return content.some((block) => block.type === 'text' && isFramed(block.text))
}

function isFramed(text: string): boolean {
  const trimmed = text.trim()
  const [start, end] = [trimmed.slice(0, 40).toLowerCase(), trimmed.slice(-40).toLowerCase()]
  return frames.some(([opening, closing]) => start.startsWith(opening) && end.endsWith(closing))
}
