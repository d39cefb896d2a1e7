import { describeWireLaw } from './law.ts'

describeWireLaw(Number(process.env['PALIMPSEST_MODEL_RUNS'] ?? 1000))
