import { describeCrashes } from './crash-matrix.ts'

describeCrashes('after the first event of each kind it resumes, and no body runs again', (whole) => {
  const firsts = [...new Set(whole.map(({ type }) => type))].map((type) =>
    whole.findIndex((event) => event.type === type),
  )
  // One of the two ways to be lost each, and for what lets a body run both.
  return firsts.flatMap((seq, at) => {
    const [one, other] = at % 2 === 0 ? (['appended', 'durable'] as const) : (['durable', 'appended'] as const)
    const isEffect = whole[seq]?.type === 'tool/call' || whole[seq]?.type === 'tool/result'
    return [{ mode: one, seq }, ...(isEffect ? [{ mode: other, seq }] : [])]
  })
})
