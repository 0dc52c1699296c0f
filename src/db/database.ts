import type { MikroORM } from '@mikro-orm/postgresql';
import type { RunInSpan } from '../telemetry/span.ts';
import { connectionSettings } from './connection/connection.ts';
import { createListQueue, type ListQueue } from './lists/queue.ts';
import { endWithin } from './connection/end.ts';
import { openOrm } from './connection/orm.ts';
import { divideConnections, openPools, type Pools } from './connection/pools.ts';
import { createQueryRunner, type CommandRunner } from './pipeline/query-runner.ts';
import { createWriteQueue, LOCK_MS, type WriteQueue } from './turns/write-queue.ts';

/** An open database: runs named queries and commands, and creates an entity manager for each transaction. */
export type Database = CommandRunner & {
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
  const pools = openPools(writes, poolMax, connectionSettings(databaseUrl, { ...timeouts, lockMs: 3000 }));
  const connections = { orm, pools, writeQueue: createWriteQueue(poolOfOrm), listQueue: createListQueue(pools.lists) };
  return {
    ...connections,
    ...createQueryRunner(connections, withSpan),
    orm,
    url: databaseUrl,
    async close() {
      await endWithin(Promise.all([orm.close(true), pools.reads.end(), pools.lists.end()]));
    },
  };
}
