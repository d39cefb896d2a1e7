const given = process.env['PALIMPSEST_SEED']
/** `PALIMPSEST_SEED` repeats a run. */
const seed: number = given === undefined ? (Math.random() * 2 ** 31) | 0 : Number(given)

export const runs = (numRuns: number): { numRuns: number; seed: number } => ({ numRuns, seed })
