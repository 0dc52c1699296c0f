import { Pool } from 'pg';

/**
 * The connections of a process. Each kind of work has its own, so that none waits for another: `reads` for
 * authentication and short reads, `writes` for whatever can wait for a lock, `lists` for reads of many rows.
 */
export type Pools = { readonly reads: Pool; readonly writes: Pool; readonly lists: Pool };

const READS_SHARE = 0.3;
const LISTS_SHARE = 0.2;

/** Divides the connections of a process among its pools. @returns 5, 3 and 2 of 10 */
export function divideConnections(total: number): Readonly<Record<keyof Pools, number>> {
  const reads = Math.max(1, Math.round(READS_SHARE * total));
  const lists = Math.max(1, Math.round(LISTS_SHARE * total));
  return { reads, lists, writes: Math.max(1, total - reads - lists) };
}

/** Opens the other pools beside that of the ORM, which is the one for writes, with all its settings. */
export function openPools(writes: Pool, total: number): Pools {
  const { reads, lists } = divideConnections(total);
  return { reads: openLike(writes, reads), writes, lists: openLike(writes, lists) };
}

function openLike({ options }: Pool, max: number): Pool {
  // The pool hides the password from logs by making it a property that is not copied.
  const pool = new Pool({ ...options, password: options.password, max });
  // Each query gets the error of its connection. An unhandled error event would crash the process.
  pool.on('error', () => undefined);
  pool.on('connect', (client) => client.on('error', () => undefined));
  return pool;
}
