import { defaultRuns, describeLaws, lawNames } from './describe-laws.ts'

describeLaws(lawNames, defaultRuns)
