import type { Rows } from './pipeline.ts';

/** Maximum number of concurrent queries: large ones, and those that are known to be huge. */
const LARGE_MAX = 4;
const HUGE_MAX = 1;

/** A query with this many rows is huge, and is expected to be huge the next time. */
const HUGE_ROWS = 1000;
const KNOWN_MAX = 1000;

/** A queue that does not advance for this time causes a timeout, like waiting for a connection. */
const STALLED_MS = 5000;

/** A large query waited for a slot, but the queue did not advance. */
export class LargeQueryTimeoutError extends Error {
  override name = 'LargeQueryTimeoutError';
  override message = 'Timed out waiting to run a large query.';
}

/**
 * Limits queries that can return thousands of rows, to bound the rows in memory. Few run concurrently; queries that
 * were huge before run one after another, with a separate limit.
 */
export function limitLargeQueries(): (key: string, run: () => Promise<Rows>) => Promise<Rows> {
  const [large, huge] = [createConcurrencyLimiter(LARGE_MAX), createConcurrencyLimiter(HUGE_MAX)];
  const known = new Set<string>();

  const measured = async (key: string, run: () => Promise<Rows>): Promise<Rows> => {
    const rows = await run();
    if (known.size >= KNOWN_MAX) known.clear();
    if (rows.length >= HUGE_ROWS) known.add(key);
    else known.delete(key);
    return rows;
  };

  return async (key, run) => {
    // Look again after waiting: another query with this key can have been huge.
    const rows = known.has(key) ? null : await large(async () => (known.has(key) ? null : measured(key, run)));
    return rows ?? huge(() => measured(key, run));
  };
}

/** Creates a limiter that runs at most `count` calls concurrently. The others wait in order of arrival. */
function createConcurrencyLimiter(count: number): <Result>(run: () => Promise<Result>) => Promise<Result> {
  const queue: (() => void)[] = [];
  let free = count;
  let lastStartMs = 0;

  const waitForSlot = () =>
    new Promise<void>((resolve, reject) => {
      // Time out only if the queue does not advance; each query has its own timeout.
      const timer = setInterval(() => {
        if (Date.now() - lastStartMs < STALLED_MS) return;
        clearInterval(timer);
        queue.splice(queue.indexOf(start), 1);
        reject(new LargeQueryTimeoutError());
      }, STALLED_MS);
      const start = () => {
        clearInterval(timer);
        lastStartMs = Date.now();
        resolve();
      };
      queue.push(start);
    });

  return async (run) => {
    if (free > 0) free -= 1;
    else await waitForSlot();
    try {
      return await run();
    } finally {
      const next = queue.shift();
      // Let the response with these rows be written before the next query starts.
      if (next === undefined) free += 1;
      else setImmediate(next);
    }
  };
}
