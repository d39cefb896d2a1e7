export interface CodeBlock {
  /** The whole info string of the fence: `ts`, `sh`, … */
  info: string
  text: string
  /** 1-based line of the block's first line of code. */
  line: number
}

/** The fenced code blocks of a Markdown page. Throws when a fence is never closed. */
export function codeBlocks(page: string): CodeBlock[] {
  const blocks: CodeBlock[] = []
  let open: { fence: string; block: CodeBlock; lines: string[] } | undefined
  for (const [index, line] of page.split('\n').entries()) {
    if (open === undefined) {
      const start = /^\s{0,3}(`{3,}|~{3,})\s*([^`]*)$/.exec(line)
      if (start?.[1] === undefined) continue
      open = { fence: start[1], block: { info: (start[2] ?? '').trim(), text: '', line: index + 2 }, lines: [] }
    } else if (line.trim().startsWith(open.fence) && /^(`+|~+)$/.test(line.trim())) {
      blocks.push({ ...open.block, text: `${open.lines.join('\n')}\n` })
      open = undefined
    } else {
      open.lines.push(line)
    }
  }
  if (open !== undefined) throw new Error(`the code block at line ${open.block.line - 1} is never closed`)
  return blocks
}

/** The `name: value` lines between the `---` at the head of a page, and the rest. Nothing but such lines is understood. */
export function frontMatter(page: string): { fields: ReadonlyMap<string, string>; body: string } {
  const match = /^---\n([\s\S]*?)\n---\n/.exec(page)
  if (match?.[1] === undefined) return { fields: new Map(), body: page }
  const fields = match[1].split('\n').map((line): [string, string] => {
    const colon = line.indexOf(':')
    return [
      line.slice(0, colon).trim(),
      line
        .slice(colon + 1)
        .trim()
        .replace(/^(['"])(.*)\1$/, '$2'),
    ]
  })
  return { fields: new Map(fields), body: page.slice(match[0].length) }
}

/** One row of a Markdown table. */
export function tableRow(cells: readonly string[]): string {
  return `| ${cells.map((cell) => cell.replaceAll('|', String.raw`\|`).replaceAll('\n', ' ')).join(' | ')} |`
}
