import { Pool, type Client, type PoolClient, type PoolConfig } from 'pg';
import type { Config } from '../config/config.ts';
import { connectionSettings, createPool, type ConnectionOptions } from '../db/connection/connection.ts';
import { isTransactionPooler } from '../db/pooler/detect.ts';
import { keepOnlyIdle } from '../db/connection/idle-releases.ts';
import { errorSummary, type Log } from '../telemetry/log.ts';

const PURPOSE = 'worker';

export type QueuePool = {
  readonly pool: Pool;
  /** False behind a pooler that runs a statement on any connection to the server. */
  readonly hasSessions: boolean;
  end(): Promise<void>;
};

/**
 * Opens the connections of the worker, separate from those of requests, so that emails and requests never wait for
 * each other. Timeouts are those of requests, because all statements of the queue are short. Behind a pooler in
 * transaction mode, notifications come over DATABASE_MIGRATION_URL, or not at all.
 */
export function openQueuePool(databaseUrl: string, { databaseMigrationUrl }: Config, max: number, log: Log): QueuePool {
  const options = { purpose: PURPOSE, connectMs: 2000, statementMs: 5000 };
  const report = (error: Error) => log.warn({ reason: errorSummary(error) }, 'worker database connection lost');
  if (!isTransactionPooler(databaseUrl)) {
    const { Client, ...settings } = connectionSettings(databaseUrl, options);
    const pool = keepOnlyIdle(new Pool({ ...settings, Client: endUnanswered(Client), max } as PoolConfig), PURPOSE);
    pool.on('connect', (client) => client.on('error', () => undefined)); // The pending query fails with the same error.
    pool.on('error', report);
    return { pool, hasSessions: true, end: () => pool.end() };
  }
  const listening =
    databaseMigrationUrl === undefined ? undefined : createPool(databaseMigrationUrl, { ...options, max: 1 });
  const withoutSessions = new PoolWithoutSessions(databaseUrl, { ...options, max }, listening);
  const pool = keepOnlyIdle(withoutSessions as unknown as Pool, PURPOSE); // `query` has fewer overloads
  for (const each of [pool, listening]) each?.on('error', report);
  return {
    pool,
    hasSessions: false,
    end: async () => void (await Promise.all([pool.end(), listening?.end()])),
  };
}

/**
 * Ends a connection with a statement that was not answered in time. The queue gives it back to the pool like any other,
 * and the next statements would wait behind that one until TCP gives the connection up.
 */
function endUnanswered(Base: typeof Client): typeof Client {
  class AnsweredClient extends Base {
    // @ts-expect-error -- one signature for the overloads of pg; with a callback, the pool learns of the error itself
    override async query(...given: unknown[]): Promise<unknown> {
      try {
        return await (super.query as (...all: unknown[]) => unknown).apply(this, given);
      } catch (error) {
        if (error instanceof Error && error.message === 'Query read timeout') void this.end().catch(() => undefined);
        throw error;
      }
    }
  }
  return AnsweredClient as unknown as typeof Client; // as above
}

type OnConnect = (
  error: Error | undefined,
  client: PoolClient | undefined,
  release: (error?: Error | boolean) => void,
) => void;

/**
 * A pool whose connections cannot LISTEN. The queue connects with a callback only to do that: it gets a connection of
 * `listening`, or none, and then polls.
 */
class PoolWithoutSessions extends Pool {
  readonly #listening: Pool | undefined;

  constructor(
    databaseUrl: string,
    { max, ...options }: ConnectionOptions & { max: number },
    listening: Pool | undefined,
  ) {
    super({ ...connectionSettings(databaseUrl, options), max } as PoolConfig);
    this.on('connect', (client) => client.on('error', () => undefined)); // The pending query fails with the same error.
    this.#listening = listening;
  }

  override connect(): Promise<PoolClient>;
  override connect(callback: OnConnect): void;
  override connect(callback?: OnConnect): Promise<PoolClient> | void {
    if (callback === undefined) return super.connect();
    this.#listening?.connect(callback);
  }

  // @ts-expect-error -- one signature for the overloads of pg, which connect with a callback
  override async query(text: string, values?: unknown[]): Promise<unknown> {
    const client = await super.connect();
    let failure: Error | undefined;
    try {
      return await client.query(text, values);
    } catch (error) {
      failure = error as Error; // pg reports nothing else
      throw error;
    } finally {
      client.release(failure);
    }
  }
}
