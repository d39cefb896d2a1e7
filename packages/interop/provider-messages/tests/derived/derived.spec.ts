import { defaultRuns, describeDerivedLaw } from './law.ts'

describeDerivedLaw(defaultRuns)
