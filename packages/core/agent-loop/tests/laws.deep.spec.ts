import { describeLoopLaws } from './laws.ts'

describeLoopLaws(1_500)
