import type { BoundQuery, Rows } from './prepared-statement.ts';

/** Rows from which a result is long: others would wait noticeably for a connection that reads so many. */
export const LONG_ROWS = 200;

const KNOWN_MAX = 10_000;

type Run = (query: BoundQuery) => Promise<Rows>;

/**
 * Combines two runners for queries that return few rows for nearly all callers. A query runs as a short one unless its
 * result was long the last time. While the first one with its parameter is running, concurrent ones run as long ones.
 */
export function runByRowCount(runShort: Run, runLong: Run): Run {
  const known = new Map<string, 'short' | 'long' | 'running'>();

  const remember = (key: string, rows: Rows): Rows => {
    if (known.size >= KNOWN_MAX) known.clear();
    known.set(key, rows.length >= LONG_ROWS ? 'long' : 'short');
    return rows;
  };

  return async (query) => {
    const key = `${query.name} ${String(query.values[0])}`;
    const last = known.get(key);
    if (last === 'long' || last === 'running') return remember(key, await runLong(query));
    if (last === undefined) known.set(key, 'running');
    try {
      return remember(key, await runShort(query));
    } catch (error) {
      known.delete(key);
      throw error;
    }
  };
}
