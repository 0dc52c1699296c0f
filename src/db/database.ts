import type { RunInSpan } from '../telemetry/span.ts';
import { connectionSettings } from './connection/connection.ts';
import { createListQueue } from './lists/queue.ts';
import { endWithin } from './connection/end.ts';
import { openOrm } from './connection/orm.ts';
import { divideConnections, openPools } from './connection/pools.ts';
import { createQueryRunner, type CommandRunner, type Connections } from './pipeline/query-runner.ts';
import { createWriteQueue, LOCK_MS } from './turns/write-queue.ts';

/** An open database: runs named queries and commands, and creates an entity manager for each transaction. */
export type Database = CommandRunner &
  Connections & {
    /** The connection URL, for connections outside of the pools. */
    readonly url: string;
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
    url: databaseUrl,
    async close() {
      await endWithin(Promise.all([orm.close(true), pools.reads.end(), pools.lists.end()]));
    },
  };
}
