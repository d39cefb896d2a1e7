import type { ScriptedAnswer } from './scripted-model.ts'

/** What is asked, and what the model answers. */
export const deployment = {
  prompt: 'All green. Deploy it.',
  answers: [
    { text: 'Deploying now.', call: bash('call_deploy', './deploy.sh production') },
  ] satisfies readonly ScriptedAnswer[],
}

export const afterwards = {
  prompts: ['Did it go through?', 'Good. Tag it, so that the next one knows.'],
  answers: [
    {
      text: 'The deployment was cut off and nobody knows whether it ran. I will not run it again; I look at what is live.',
      call: bash('call_version', 'curl -s https://weather.example/version'),
    },
    { text: 'Version 42 is live: the deployment did go through.' },
    { text: 'Tagging it.', call: bash('call_tag', 'git tag -a live-42 -m "deployed once"') },
    { text: 'Tagged as live-42. Nothing is open.' },
  ] satisfies readonly ScriptedAnswer[],
  /** What the shell says. */
  outputs: new Map([
    ['curl -s https://weather.example/version', '42'],
    ['git tag -a live-42 -m "deployed once"', 'live-42'],
  ]),
}

function bash(id: string, command: string): NonNullable<ScriptedAnswer['call']> {
  return { id, name: 'Bash', input: JSON.stringify({ command }) }
}
