import { describeSessionLaws } from './session-laws.ts'

describeSessionLaws(120)
