const given = process.env['PALIMPSEST_SEED']
/** `PALIMPSEST_SEED` repeats a run. */
const seed: number = given === undefined ? (Math.random() * 2 ** 31) | 0 : Number(given)
const isDeep = process.env['PALIMPSEST_DEEP'] === '1'

/** The runs of a property; twenty times as many in deep runs. */
export const runs = (few: number): { numRuns: number; seed: number } => ({ numRuns: isDeep ? few * 20 : few, seed })
