import type { Rows } from './pipeline.ts';

/** How many reads that can be long run at a time, and how many of those that are known to be huge. */
const LONG_MAX = 4;
const HUGE_MAX = 1;

/** From so many rows on a read is huge, as it will be the next time. */
const HUGE_ROWS = 1000;
const KNOWN_MAX = 1000;

/**
 * Runs reads that can give thousands of rows so that not all of those are in memory together: few
 * at a time and, of those that turned out huge before, one by one beside the others.
 */
export function inTurns(): (key: string, run: () => Promise<Rows>) => Promise<Rows> {
  const [long, huge] = [lanes(LONG_MAX), lanes(HUGE_MAX)];
  const known = new Set<string>();

  const measured = async (key: string, run: () => Promise<Rows>): Promise<Rows> => {
    const rows = await run();
    if (known.size >= KNOWN_MAX) known.clear();
    if (rows.length >= HUGE_ROWS) known.add(key);
    else known.delete(key);
    return rows;
  };

  return async (key, run) => {
    // While it waits, another one like it may tell.
    const rows = known.has(key) ? null : await long(async () => (known.has(key) ? null : measured(key, run)));
    return rows ?? huge(() => measured(key, run));
  };
}

/** Runs at most `count` at a time; the others wait in the order they came. */
function lanes(count: number): <Result>(run: () => Promise<Result>) => Promise<Result> {
  const queue: (() => void)[] = [];
  let free = count;
  let lastTurn = 0;

  const turn = () =>
    new Promise<void>((resolve, reject) => {
      // Long, but moving, is no reason to give up: each turn is bounded by its statement's time.
      const patience = setInterval(() => {
        if (Date.now() - lastTurn < STANDSTILL_MS) return;
        clearInterval(patience);
        queue.splice(queue.indexOf(go), 1);
        reject(new Error('timeout exceeded when trying to connect: too many long reads at a time'));
      }, STANDSTILL_MS);
      const go = () => {
        clearInterval(patience);
        lastTurn = Date.now();
        resolve();
      };
      queue.push(go);
    });

  return async (run) => {
    if (free > 0) free -= 1;
    else await turn();
    try {
      return await run();
    } finally {
      const next = queue.shift();
      // After what became of these rows has been sent, as far as that takes no waiting.
      if (next === undefined) free += 1;
      else setImmediate(next);
    }
  };
}

/** As for a connection, nobody waits without an end where nothing moves. */
const STANDSTILL_MS = 5000;
