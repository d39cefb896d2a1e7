import { describeIdentity } from './messages-identity.ts'

describeIdentity(Number(process.env['PALIMPSEST_MODEL_RUNS'] ?? 1000))
