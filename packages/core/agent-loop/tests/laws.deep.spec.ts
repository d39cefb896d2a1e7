import { describeLoopLaws } from './laws.ts'

describeLoopLaws(10_000)
