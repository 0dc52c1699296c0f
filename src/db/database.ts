import type { EntityManager, MikroORM } from '@mikro-orm/postgresql';
import type { Pool, PoolClient } from 'pg';
import type { RunInSpan } from '../telemetry/span.ts';
import { LargeQueryTimeoutError } from './concurrency.ts';
import { openOrm } from './orm.ts';
import { createQueryRunner, type CommandRunner } from './query.ts';

/** An open database: runs named queries and commands, and creates an entity manager for each transaction. */
export type Database = CommandRunner & {
  em(): EntityManager;
  readonly orm: MikroORM;
  /** The connection URL, for connections outside of the pool. */
  readonly url: string;
  /** The connection pool of all requests. */
  readonly pool: Pool;
  close(): Promise<void>;
};

/** Opens a migrated database. */
export async function openDatabase(databaseUrl: string, poolMax: number, withSpan?: RunInSpan): Promise<Database> {
  const orm = await openOrm(databaseUrl, { poolMax, timeouts: { connectMs: 2000, statementMs: 5000 } });
  const pool = await orm.em.getConnection().getNativeClient();
  releaseBrokenConnections(pool);
  return {
    ...createQueryRunner(pool, withSpan),
    em: withSpan === undefined ? () => orm.em.fork() : () => traced(orm.em.fork(), withSpan),
    orm,
    url: databaseUrl,
    pool,
    close: () => orm.close(true),
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

/** SQLSTATE classes of a server that is unavailable, read-only, starting, stopping, or out of connections, disk or memory. */
const UNAVAILABLE_STATE = /^(08|25006|25P03|53|57P0|58)/;
const UNAVAILABLE_ERRNO = /^(ECONN|EPIPE|ENOTFOUND|ETIMEDOUT|EHOSTUNREACH|EAI_)/;
const UNAVAILABLE_MESSAGE =
  /timeout exceeded when trying to connect|Connection terminated|Query read timeout|statement timeout|Client has encountered a connection error/i;

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
  if (error instanceof LargeQueryTimeoutError) return true;
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
