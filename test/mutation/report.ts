import { dirname } from 'node:path';
import type { Mutation } from './mutations.ts';
import type { Outcome } from './run-suites.ts';

const KILLED_MIN = 0.9;

export type Result = { readonly mutation: Pick<Mutation, 'name' | 'file'>; readonly outcome: Outcome };

/**
 * Returns the lines of the report, and whether the tests are good enough: at least 90 % are killed in each folder, each
 * survivor has a known reason, and each suite ran.
 */
export function report(results: readonly Result[], reasons: Readonly<Record<string, string>>) {
  const isKilled = ({ outcome }: Result) => outcome.kind === 'failed';
  const folders = [...new Set(results.map(({ mutation }) => dirname(mutation.file)))].toSorted();
  const scores = folders.map((folder) => {
    const all = results.filter(({ mutation }) => dirname(mutation.file) === folder);
    return { folder, killed: all.filter(isKilled).length, count: all.length };
  });
  const faults = results.flatMap(({ mutation: { name }, outcome }) => {
    if (outcome.kind === 'error') return [{ line: `error: ${name}: ${outcome.reason}`, isKnown: false }];
    if (outcome.kind === 'failed') return [];
    const reason = reasons[name];
    return [{ line: `survivor: ${name}: ${reason ?? 'no reason is listed'}`, isKnown: reason !== undefined }];
  });
  const killed = results.filter(isKilled).length;
  return {
    lines: [
      ...scores.map((score) => `${`${score.killed}/${score.count}`.padStart(7)}  ${score.folder}`),
      ...faults.map(({ line }) => line),
      `${killed} of ${results.length} mutations killed`,
    ],
    isGood:
      results.length > 0 &&
      scores.every(({ killed: some, count }) => some >= KILLED_MIN * count) &&
      faults.every(({ isKnown }) => isKnown),
  };
}
