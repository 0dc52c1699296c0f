import type { EntityManager, MikroORM } from '@mikro-orm/postgresql';
import type { Pool, PoolClient } from 'pg';
import type { RunInSpan } from '../telemetry/span.ts';
import { connectionSettings } from './connection.ts';
import { createListQueue, type ListQueue } from './lists.ts';
import { openOrm } from './orm.ts';
import { divideConnections, openPools, type Pools } from './pools.ts';
import { createQueryRunner, type CommandRunner } from './query.ts';
import { BusyError } from './turns.ts';
import { createWriteQueue, LOCK_MS, type WriteQueue } from './write-queue.ts';

/** An open database: runs named queries and commands, and creates an entity manager for each transaction. */
export type Database = CommandRunner & {
  em(): EntityManager;
  readonly orm: MikroORM;
  /** The connection URL, for connections outside of the pools. */
  readonly url: string;
  readonly pools: Pools;
  /** Where transactions wait before they get a connection. */
  readonly writeQueue: WriteQueue;
  readonly listQueue: ListQueue;
  close(): Promise<void>;
};

/** Opens a migrated database. @param poolMax the connections of all pools together */
export async function openDatabase(databaseUrl: string, poolMax: number, withSpan?: RunInSpan): Promise<Database> {
  const { writes: poolOfOrm } = divideConnections(poolMax);
  const timeouts = { connectMs: 2000, statementMs: 5000, lockMs: LOCK_MS };
  const orm = await openOrm(databaseUrl, { poolMax: poolOfOrm, timeouts });
  const writes = await orm.em.getConnection().getNativeClient();
  releaseBrokenConnections(writes);
  const pools = openPools(writes, poolMax, connectionSettings(databaseUrl, { ...timeouts, lockMs: 3000 }));
  const connections = { pools, writeQueue: createWriteQueue(poolOfOrm), listQueue: createListQueue(pools.lists) };
  return {
    ...connections,
    ...createQueryRunner(connections, withSpan),
    em: withSpan === undefined ? () => orm.em.fork() : () => traced(orm.em.fork(), withSpan),
    orm,
    url: databaseUrl,
    async close() {
      await Promise.all([orm.close(true), pools.reads.end(), pools.lists.end()]);
    },
  };
}

/** Returns an entity manager with a span for each transaction. */
function traced(em: EntityManager, withSpan: RunInSpan): EntityManager {
  const transactional = em.transactional.bind(em);
  return Object.assign(em, {
    transactional: ((work, options) =>
      withSpan('postgresql', 'transaction', () => transactional(work, options))) satisfies typeof transactional,
  });
}

const RELEASE_DELAY_MS = 100;

/**
 * Releases connections that broke inside a transaction. Kysely never does, because it waits for a successful
 * COMMIT or ROLLBACK: each would use up a slot of the pool until the restart, and `close` would never resolve.
 */
function releaseBrokenConnections(pool: Pool): void {
  const watched = new WeakSet<PoolClient>();
  // Not on `connect`: the first connection was opened before this call.
  pool.on('acquire', (client) => {
    if (watched.has(client)) return;
    watched.add(client);
    client.once('end', () => {
      // Wait for other code that releases a broken connection.
      setTimeout(() => {
        try {
          client.release(true);
        } catch {
          // It was released already.
        }
      }, RELEASE_DELAY_MS).unref();
    });
  });
}

/**
 * SQLSTATE classes of a server that is unavailable, read-only, starting, stopping, or out of connections, disk or memory,
 * and of a lock timeout.
 */
const UNAVAILABLE_STATE = /^(08|25006|25P03|53|55P03|57P0|58)/;
const UNAVAILABLE_ERRNO = /^(ECONN|EPIPE|ENOTFOUND|ETIMEDOUT|EHOSTUNREACH|EAI_|EMFILE|ENFILE)/;
const UNAVAILABLE_MESSAGE =
  /timeout exceeded when trying to connect|Connection terminated|Query read timeout|statement timeout|Client has encountered a connection error|getaddrinfo EINVAL/i;

/** Serialization failure and deadlock: PostgreSQL aborted the transaction because of a concurrent one. It can be retried. */
const CONFLICT_STATE = /^40(001|P01)$/;

/** Returns whether a transaction failed only because of concurrent ones. */
export const isTransactionConflict = (error: unknown): boolean =>
  error instanceof Error && (CONFLICT_STATE.test(getSqlState(error)) || isTransactionConflict(error.cause));

const getSqlState = (error: Error): string => ('code' in error ? String(error.code) : '');

/**
 * Returns whether a retry can succeed: the database is unavailable, or it aborted the transaction because of a
 * concurrent one.
 */
export function isUnavailable(error: unknown): boolean {
  if (error instanceof BusyError) return true;
  if (!(error instanceof Error)) return false;
  const code = getSqlState(error);
  return (
    CONFLICT_STATE.test(code) ||
    UNAVAILABLE_STATE.test(code) ||
    UNAVAILABLE_ERRNO.test(code) ||
    UNAVAILABLE_MESSAGE.test(error.message) ||
    isUnavailable(error.cause)
  );
}
