import { deepRuns, describeLaws } from './describe-laws.ts'

describeLaws(
  [
    'incremental equals full fold at every prefix',
    'derive equals the walk of the surface',
    'between replacements each derived list extends the one before',
  ],
  deepRuns,
)
