import { Pool } from 'pg';
import type { connectionSettings } from './connection.ts';
import { keepOnlyIdle } from './idle-releases.ts';

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

/**
 * Opens the other pools beside that of the ORM, which is the one for writes, with all its settings.
 * @param settings those of its connections that differ, because reads wait for no locks but those of migrations
 */
export function openPools(writes: Pool, total: number, settings: Settings): Pools {
  const { reads, lists } = divideConnections(total);
  return {
    reads: openLike(writes, 'reads', reads, settings),
    writes,
    lists: openLike(writes, 'lists', lists, settings),
  };
}

type Settings = Pick<ReturnType<typeof connectionSettings>, 'Client' | 'lock_timeout'>;

function openLike({ options }: Pool, name: string, max: number, { Client, lock_timeout }: Settings): Pool {
  // The pool hides the password from logs by making it a property that is not copied.
  const settings = { ...options, password: options.password, max, Client };
  const pool = keepOnlyIdle(new Pool(lock_timeout === undefined ? settings : { ...settings, lock_timeout }), name);
  // Each query gets the error of its connection. An unhandled error event would crash the process.
  pool.on('error', () => undefined);
  pool.on('connect', (client) => client.on('error', () => undefined));
  return pool;
}
