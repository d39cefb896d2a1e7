import { deepRuns, describeDerivedLaw } from './law.ts'

describeDerivedLaw(deepRuns)
