import { relative } from 'node:path';
import fc from 'fast-check';
import { expect } from 'vitest';
import { SEED } from '../support/random.ts';

const { FUZZ_PATH: path, FUZZ_RUNS: runs } = process.env;

/** Whether this run repeats a failure, so that it need not meet everything that a whole run meets. */
export const isRepetition = path !== undefined;

/**
 * Checks a property with a seed that a failure prints, together with the path to its counterexample:
 * the command in the message repeats exactly this one.
 */
export async function check<Values>(
  property: fc.IAsyncPropertyWithHooks<Values>,
  numRuns: number,
  examples: Values[] = [],
): Promise<void> {
  const details = await fc.check(property, {
    numRuns: (runs === undefined ? numRuns : Number(runs)) + examples.length,
    ...(path !== undefined && { path }),
    endOnFailure: path !== undefined,
    examples,
  });
  if (!details.failed) return;
  const { errorInstance: cause } = details;
  const reason = cause instanceof Error ? cause.message : String(cause);
  const report = await fc.asyncDefaultReportMessage(details);
  throw new Error(`${repetitionOf(details)}\n${reason}\n${report}`, { cause });
}

/** The command that repeats a failure. */
function repetitionOf({ counterexamplePath }: { counterexamplePath: string | null }): string {
  const { testPath = '', currentTestName = '' } = expect.getState();
  const file = relative(process.cwd(), testPath);
  return `SEED=${SEED} FUZZ_PATH=${counterexamplePath} npm run test:fuzz -- ${file} -t '${currentTestName.split(' > ').join(' ')}'`;
}
