import type { Message, RequestHeader, Session, UserMessage } from '@palimpsest/session'
import { describe, expectTypeOf, it } from 'vitest'
import { z } from 'zod'
import { type AgentLoop, type CallDecision, defineTool, type FailureKind, type ToolOutcome } from '../src/index.ts'

declare const loop: AgentLoop

/** What a plugin asks of a loop, without knowing this package. */
interface Host {
  on(
    hook: 'agent/pre-step',
    listener: (context: {
      readonly session: Session
      readonly signal: AbortSignal
      inject(message: UserMessage, sourceEventSeqs?: readonly number[]): void
    }) => Promise<void> | void,
  ): () => void
  on(
    hook: 'agent/request-error',
    listener: (context: {
      readonly kind: string
      readonly session: Session
    }) => Promise<'retry' | void> | 'retry' | void,
  ): () => void
}

describe('the types of a loop', () => {
  it('a hook narrows its context', () => {
    loop.on('agent/pre-step', (context) => {
      expectTypeOf(context.input).toEqualTypeOf<readonly UserMessage[]>()
      expectTypeOf(context).not.toHaveProperty('call')
    })
    loop.on('agent/request', ({ header, messages, attempt }) => {
      expectTypeOf(header).toEqualTypeOf<RequestHeader>()
      expectTypeOf(messages).toEqualTypeOf<readonly Message[]>()
      expectTypeOf(attempt).toEqualTypeOf<number>()
      return header
    })
    loop.on('agent/request-error', ({ kind }) => {
      expectTypeOf(kind).toEqualTypeOf<FailureKind>()
      return 'retry'
    })
    loop.on('tools/result', ({ call, outcome }) => {
      expectTypeOf(call.input).toEqualTypeOf<unknown>()
      expectTypeOf(outcome).toEqualTypeOf<ToolOutcome>()
    })
  })

  it('a hook takes its own answers only', () => {
    loop.on('tools/pre-execute', (): CallDecision => ({ deny: 'no' }))
    // @ts-expect-error -- a decision is not a word
    loop.on('tools/pre-execute', () => 'deny')
    // @ts-expect-error -- pre-step has no answer
    loop.on('agent/pre-step', () => 'retry')
    // @ts-expect-error -- there is no such hook
    loop.on('agent/post-step', () => undefined)
  })

  it('a plugin that declares the minimal shape fits', () => {
    expectTypeOf(loop).toExtend<Host>()
  })

  it('a tool infers its input from its schema', () => {
    defineTool({
      name: 'add',
      inputSchema: z.object({ a: z.number() }),
      execute: (input) => {
        expectTypeOf(input).toEqualTypeOf<{ a: number }>()
        return input.a
      },
    })
  })
})
