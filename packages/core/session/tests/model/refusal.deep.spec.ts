import { deepRuns, describeLaws } from './describe-laws.ts'

describeLaws(
  [
    'accepts exactly what the reference accepts',
    'a refused candidate changes nothing',
    'public reads before a refused candidate do not drift',
  ],
  deepRuns,
)
