import { retryAfterOf, type Answer } from './errors.ts';

export type RetryOptions = {
  /** How often a failed request is repeated at most. Default 2. */
  readonly retries?: number;
  /** The longest wait before a repetition, in milliseconds. A longer `Retry-After` is not waited for. Default 10,000. */
  readonly waitMsMax?: number;
};

const BASE_MS = 200;

/**
 * Sends a request and repeats it where that is safe: a 429 was not executed. What can be repeated is also repeated after a
 * 502, 503, 504 or a lost connection. Other requests are sent once.
 * @param getCredential returns the present credential. Its errors end the call.
 * @param send sends the request once. Its errors are those of `fetch`.
 * @param canRepeat whether the request has the same effect however often it is sent
 */
export async function withRetries(
  getCredential: () => Promise<string>,
  send: (credential: string) => Promise<Answer>,
  canRepeat: boolean,
  signal: AbortSignal | undefined,
  { retries = 2, waitMsMax = 10_000 }: RetryOptions,
): Promise<Answer> {
  for (let attempt = 0; ; attempt += 1) {
    const credential = await getCredential();
    const result = await send(credential).catch((error: unknown) => {
      if (!canRepeat || attempt >= retries || signal?.aborted) throw error;
      return null;
    });
    if (result !== null && (attempt >= retries || !isRepeatable(result.status, canRepeat))) return result;
    const seconds = result === null ? undefined : retryAfterOf(result);
    const waitMs = seconds === undefined ? backoffMs(attempt) : seconds * 1000;
    if (result !== null && waitMs > waitMsMax) return result;
    await wait(waitMs, signal);
  }
}

const isRepeatable = (status: number, canRepeat: boolean): boolean =>
  status === 429 || (canRepeat && (status === 502 || status === 503 || status === 504));

/** Half of the doubled base is random, so that clients that failed together do not repeat together. */
const backoffMs = (attempt: number): number => BASE_MS * 2 ** attempt * (0.5 + Math.random() / 2);

const wait = (ms: number, signal: AbortSignal | undefined): Promise<void> =>
  new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer);
      reject(signal?.reason as Error); // the reason of an abort, as fetch rejects with
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', stop);
      resolve();
    }, ms);
    if (signal?.aborted) stop();
    else signal?.addEventListener('abort', stop, { once: true });
  });
