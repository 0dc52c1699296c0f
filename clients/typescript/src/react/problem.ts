import type { Problem } from '../generated/router.ts';
import { isRosterTrpcError } from '../trpc-error.ts';

/** Returns the problem document of a failed call, or undefined if the service was not reached. */
export const documentOf = (error: unknown): Problem | undefined =>
  isRosterTrpcError(error) ? error.data?.problem : undefined;

/** Returns the code and text of a failed call. */
export function problemOf(error: unknown): { code: string; detail: string } | null {
  if (error === null || error === undefined) return null;
  const problem = documentOf(error);
  return problem === undefined
    ? { code: 'unreachable', detail: 'The service could not be reached.' }
    : { code: problem.code, detail: problem.detail };
}
