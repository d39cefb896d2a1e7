import { deepRuns, describeLaws } from './describe-laws.ts'

describeLaws(['every prefix plus closers is accepted and provider-valid', 'closers are idempotent'], deepRuns)
