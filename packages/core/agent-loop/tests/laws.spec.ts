import { describeLoopLaws } from './laws.ts'

describeLoopLaws(50)
