import type { EntityManager, MikroORM } from '@mikro-orm/postgresql';
import { openOrm } from './orm.ts';
import { reader, type Read } from './read.ts';

/** The open database: named statements for reads, a fresh unit of work for each write. */
export type Database = {
  readonly read: Read;
  em(): EntityManager;
  readonly orm: MikroORM;
  close(): Promise<void>;
};

/** Opens a migrated database. */
export async function openDatabase(databaseUrl: string, poolMax: number): Promise<Database> {
  const orm = await openOrm(databaseUrl, { poolMax, timeouts: { connectMs: 2000, statementMs: 5000 } });
  const pool = await orm.em.getConnection().getNativeClient();
  return {
    read: reader(pool),
    em: () => orm.em.fork(),
    orm,
    close: () => orm.close(true),
  };
}

/** SQLSTATE classes of a server that is away, starting, stopping or out of connections. */
const UNAVAILABLE_STATE = /^(08|57P0|53|58)/;
const UNAVAILABLE_ERRNO = /^(ECONN|EPIPE|ENOTFOUND|ETIMEDOUT|EHOSTUNREACH|EAI_)/;
const UNAVAILABLE_MESSAGE = /timeout exceeded when trying to connect|Connection terminated|Query read timeout|statement timeout|Client has encountered a connection error/i;

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

