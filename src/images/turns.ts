import { ProblemError } from '../errors.ts';

const WAITING_MAX = 20;
const RETRY_AFTER_SECONDS = 5;

let isBusy = false;
const waiting = new Set<() => void>();

/**
 * Waits until no other picture is converted in this process.
 * @returns a function that ends the turn
 * @throws service_unavailable (503) if too many wait; the reason of the signal if it aborts first
 */
export async function takeTurn(signal: AbortSignal): Promise<() => void> {
  signal.throwIfAborted();
  if (isBusy) {
    if (waiting.size >= WAITING_MAX)
      throw new ProblemError('service_unavailable', 'Too many pictures are being processed.', {
        retryAfter: RETRY_AFTER_SECONDS,
      });
    await wait(signal);
  }
  isBusy = true;
  return () => {
    const [next] = waiting;
    // The turn passes on without a gap in which another could take it.
    if (next === undefined) isBusy = false;
    else next();
  };
}

const wait = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve, reject) => {
    const start = () => {
      leave();
      resolve();
    };
    const abort = () => {
      leave();
      reject(signal.reason as Error); // of the caller
    };
    const leave = () => {
      waiting.delete(start);
      signal.removeEventListener('abort', abort);
    };
    waiting.add(start);
    signal.addEventListener('abort', abort);
  });
