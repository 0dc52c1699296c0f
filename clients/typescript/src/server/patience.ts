import type { RosterAccessError } from './errors.ts';

/** How long what has failed is not asked again. */
export const RETRY_MS = 5000;

/**
 * Creates a circuit breaker: after a failure it answers all calls with that failure for five seconds, then one call finds out
 * for all whether there is an answer again. What does not answer thus makes few users wait. The time of day can be set back meanwhile.
 */
export function createBreaker(toError: (cause: unknown) => RosterAccessError) {
  let failure: RosterAccessError | undefined;
  let silentUntil = 0;
  return async <Result>(ask: () => Result | Promise<Result>): Promise<Result> => {
    if (failure !== undefined) {
      if (silentUntil > performance.now()) throw failure;
      silentUntil = performance.now() + RETRY_MS;
    }
    try {
      const result = await ask();
      failure = undefined;
      return result;
    } catch (cause) {
      silentUntil = performance.now() + RETRY_MS;
      throw (failure = toError(cause));
    }
  };
}

export const tooLate = () => new Error('It took too long.');

/** Waits so long at most. What was begun goes on. @throws what `toError` returns if it takes longer */
export async function within<Result>(ms: number, work: Promise<Result>, toError: () => Error): Promise<Result> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(toError()), ms);
  });
  return Promise.race([work, late]).finally(() => clearTimeout(timer));
}
