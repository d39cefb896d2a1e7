import { deepRuns, describeLaws } from './describe-laws.ts'

describeLaws(['restore(serialise(log)) derives the same bytes', 'derive(fork at m) equals derive(prefix m)'], deepRuns)
