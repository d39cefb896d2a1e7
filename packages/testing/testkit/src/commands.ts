import fc from 'fast-check'
import type { AssistantBlock, ContentBlock, SystemMessage, UserBlock } from '@palimpsest/session'
import { anyAssistantProse, anyJson, anyResultContent, anySystemContent, anyUserContent } from './arbitraries.ts'
import { faultNames } from './faults.ts'

/** Numbers that a step reads its choices from; what they choose among depends on the state of the session. */
interface Choice {
  readonly pick: number
  readonly size: number
}

/** One append that the state makes valid. `candidateFor` turns it into a concrete event. */
export type Step = Choice &
  (
    | { readonly what: 'structure' | 'log' }
    | { readonly what: 'user'; readonly content: readonly UserBlock[] }
    | { readonly what: 'assistant'; readonly prose: readonly AssistantBlock[] }
    | { readonly what: 'result' | 'prune'; readonly content: readonly ContentBlock[] }
    | { readonly what: 'summary'; readonly content: readonly UserBlock[] }
    | { readonly what: 'head'; readonly content: SystemMessage['content'] }
    | { readonly what: 'opaque'; readonly extra: unknown }
  )

/**
 * One move of a model-based test. `read` touches every public read and is what any command shrinks to.
 * `broken` is a step with a named fault planted in it; most are invalid, and the reference says which.
 */
export type Command =
  | { readonly kind: 'read' }
  | { readonly kind: 'append'; readonly step: Step }
  | { readonly kind: 'broken'; readonly step: Step; readonly fault: string }
  | { readonly kind: 'veto'; readonly step: Step; readonly retry: boolean }
  | { readonly kind: 'fork'; readonly back: number }
  | { readonly kind: 'restore' }

const choice = { pick: fc.nat({ max: 9999 }), size: fc.nat({ max: 9 }) }

function step<Rest extends object>(
  weight: number,
  what: Step['what'],
  rest: { [Key in keyof Rest]: fc.Arbitrary<Rest[Key]> },
): fc.WeightedArbitrary<Step> {
  const arbitrary = fc.record({ what: fc.constant(what), ...choice, ...rest }) as unknown as fc.Arbitrary<Step>
  return { arbitrary, weight }
}

const anyStep: fc.Arbitrary<Step> = fc.oneof(
  step(7, 'result', { content: anyResultContent }),
  step(5, 'assistant', { prose: anyAssistantProse }),
  step(4, 'summary', { content: anyUserContent }),
  step(4, 'prune', { content: anyResultContent }),
  step(4, 'structure', {}),
  step(3, 'user', { content: anyUserContent }),
  step(2, 'head', { content: anySystemContent }),
  step(1, 'log', {}),
  step(1, 'opaque', { extra: anyJson }),
)

const anyCommand: fc.Arbitrary<Command> = fc.oneof(
  { withCrossShrink: true },
  { arbitrary: fc.constant({ kind: 'read' as const }), weight: 1 },
  { arbitrary: anyStep.map((step) => ({ kind: 'append' as const, step })), weight: 36 },
  {
    arbitrary: fc.record({
      kind: fc.constant('broken' as const),
      step: anyStep,
      fault: fc.constantFrom(...faultNames),
    }),
    weight: 8,
  },
  { arbitrary: fc.record({ kind: fc.constant('veto' as const), step: anyStep, retry: fc.boolean() }), weight: 2 },
  { arbitrary: fc.record({ kind: fc.constant('fork' as const), back: fc.nat({ max: 5 }) }), weight: 2 },
  { arbitrary: fc.constant({ kind: 'restore' as const }), weight: 1 },
)

/** Sequences of 40 to 60 commands; shrinking turns commands into reads. */
export const anyCommands: fc.Arbitrary<Command[]> = fc.array(anyCommand, { minLength: 40, maxLength: 60, size: 'max' })
