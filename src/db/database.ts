import type { EntityManager, MikroORM } from '@mikro-orm/postgresql';
import type { Pool, PoolClient } from 'pg';
import type { RunInSpan } from '../telemetry/span.ts';
import { openOrm } from './orm.ts';
import { reader, type Read } from './query.ts';

/** The open database: named statements for reads, a fresh unit of work for each write. */
export type Database = {
  readonly read: Read;
  em(): EntityManager;
  readonly orm: MikroORM;
  /** The connections that requests share. */
  readonly pool: Pool;
  close(): Promise<void>;
};

/** Opens a migrated database. */
export async function openDatabase(databaseUrl: string, poolMax: number, withSpan?: RunInSpan): Promise<Database> {
  const orm = await openOrm(databaseUrl, { poolMax, timeouts: { connectMs: 2000, statementMs: 5000 } });
  const pool = await orm.em.getConnection().getNativeClient();
  giveBackBroken(pool);
  return {
    read: reader(pool, withSpan),
    em: withSpan === undefined ? () => orm.em.fork() : () => traced(orm.em.fork(), withSpan),
    orm,
    pool,
    close: () => orm.close(true),
  };
}

/** An entity manager whose transactions a trace shows. Their statements have no names. */
function traced(em: EntityManager, withSpan: RunInSpan): EntityManager {
  const transactional = em.transactional.bind(em);
  return Object.assign(em, {
    transactional: ((work, options) =>
      withSpan('postgresql', 'transaction', () => transactional(work, options))) satisfies typeof transactional,
  });
}

const GIVE_BACK_MS = 100;

/**
 * A transaction whose connection breaks is never given back: kysely waits for a COMMIT or ROLLBACK
 * that succeeds. Each would keep its place in the pool for good, and `close` would never end.
 */
function giveBackBroken(pool: Pool): void {
  const watched = new WeakSet<PoolClient>();
  // Not on `connect`: the first connection is older than this call.
  pool.on('acquire', (client) => {
    if (watched.has(client)) return;
    watched.add(client);
    client.once('end', () => {
      // After all that gives connections back by itself, which must come first.
      setTimeout(() => {
        try {
          client.release(true);
        } catch {
          // It has been given back.
        }
      }, GIVE_BACK_MS).unref();
    });
  });
}

/** SQLSTATE classes of a server that is away, starting, stopping or out of connections. */
const UNAVAILABLE_STATE = /^(08|57P0|53|58)/;
const UNAVAILABLE_ERRNO = /^(ECONN|EPIPE|ENOTFOUND|ETIMEDOUT|EHOSTUNREACH|EAI_)/;
const UNAVAILABLE_MESSAGE =
  /timeout exceeded when trying to connect|Connection terminated|Query read timeout|statement timeout|Client has encountered a connection error/i;

/** Whether an error says that the database cannot be reached now, as opposed to a fault of ours. */
export function isUnavailable(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const code = 'code' in error ? String(error.code) : '';
  return (
    UNAVAILABLE_STATE.test(code) ||
    UNAVAILABLE_ERRNO.test(code) ||
    UNAVAILABLE_MESSAGE.test(error.message) ||
    isUnavailable(error.cause)
  );
}
