import { describeLoopLaws } from './laws.ts'

describeLoopLaws(5_000)
