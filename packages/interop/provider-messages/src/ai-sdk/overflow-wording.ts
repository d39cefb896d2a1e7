/**
 * How providers say that a prompt is larger than the context, where they publish wording and no code. The one place that
 * reads messages of others. By rule of PROVIDERS.
 */
export const OVERFLOW_WORDING: readonly { readonly rule: string; readonly pattern: RegExp }[] = [
  { rule: 'A32', pattern: /prompt is too long: \d+ tokens > \d+ maximum/i },
  { rule: 'A33', pattern: /input length and `?max_tokens`? exceed context limit/i },
  // DeepSeek, and compatible servers that say what OC13 says and leave its code out.
  { rule: 'DS8', pattern: /maximum context length is \d+ tokens/i },
]
