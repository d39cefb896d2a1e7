/** What belongs in no log: credentials of a request, and where files lie on this machine. The last name of a path stays. */
const PRIVATE: readonly (readonly [pattern: RegExp, replacement: string])[] = [
  [/\b(?!file:)([a-z][a-z\d+.-]*:\/\/)[^\s/@]+@/gi, '$1…@'],
  [/([?&][\w-]*(?:key|token|secret|sig|signature|auth|password)[\w-]*=)[^\s&#'"]+/gi, '$1…'],
  [/\b((?:proxy-)?authorization["']?\s*[:=]\s*["']?(?:\w+ +)?)[^\s"',}]+/gi, '$1…'],
  [/\b((?:[a-z]+-)*api[-_]?key["']?\s*[:=]\s*["']?)[^\s"',}]+/gi, '$1…'],
  [/\b((?:set-)?cookie["']?\s*[:=]\s*["']?)[^"'\n}]+/gi, '$1…'],
  [/\b(bearer\s+)(?=[\w.~+/=-]*\d)[\w.~+/=-]{8,}/gi, '$1…'],
  [/\b((?:sk|pk|rk|xai|gsk|pplx|hf|ghp|glpat)[-_]|AIza|AKIA)[\w*-]{8,}/g, '$1…'],
  [/\bfile:\/\/\/?[^\s"'`]*\/([^\s/"'`]*)/gi, '…/$1'],
  [/(["'`])\/[^"'`\n]*\/([^"'`\n/]*)\1/g, '$1…/$2$1'],
  [/(?<![\w./:…~-])\/(?:[^\s/"'`:,;()<>]+\/)+([^\s/"'`:,;()<>]*)/g, '…/$1'],
  [/\b[a-z]:\\(?:[^\s\\"'<>|]+\\)+([^\s\\"'<>|]*)/gi, String.raw`…\$1`],
]

/** The text of a foreign error as a log may keep it: without credentials, and without where files lie. */
export function redact(text: string): string {
  return PRIVATE.reduce((rest, [pattern, replacement]) => rest.replace(pattern, replacement), text)
}
