const { FUZZ_SEED: seed, FUZZ_PATH: path, FUZZ_RUNS: runs } = process.env;

/** Whether this is a whole run, and not one that repeats a failure. */
export const isWhole = [seed, path, runs].every((value) => value === undefined);

/** How often and from where; a failure prints the seed and the path that repeat it. */
export const setting = (numRuns: number) => ({
  numRuns: runs === undefined ? numRuns : Number(runs),
  ...(seed !== undefined && { seed: Number(seed) }),
  ...(path !== undefined && { path }),
  endOnFailure: path !== undefined,
});
