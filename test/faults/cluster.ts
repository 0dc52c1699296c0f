import { createEncryption } from '../../src/crypto/encryption.ts';
import { createTokens } from '../../src/crypto/tokens.ts';
import { readConfig } from '../../src/config/config.ts';
import { createClient } from '../../src/db/connection/connection.ts';
import { openDatabase } from '../../src/db/database.ts';
import { migrate } from '../../src/db/migrate.ts';
import type { Services } from '../../src/service/services.ts';
import { startMailServer } from '../jobs/mail-server.ts';
import { factoriesOf } from '../support/factories.ts';
import { hasRedis, startRedis } from '../support/redis.ts';
import { freePort } from '../support/free-port.ts';
import { makeDataDir, removeDataDir, startService, type Exit } from '../support/service.ts';
import { startBalancer } from './balancer.ts';
import { useEventKey } from '../../src/events/chain/event-mac.ts';
import { startPostgres } from './postgres.ts';

const SECRET_KEYS = 'test-key-test-key-test-key-test-key';

/** Limits that the load would meet are out of the way, unless a test is about them. */
const ROOMY = { RATE_LIMIT: '1000000', TEAM_LIMIT: '1000000', KEY_LIMIT: '1000000', OAUTH_ADDRESS_LIMIT: '1000000' };

/** What load and ledger need, on any PostgreSQL. */
export type Cluster = Awaited<ReturnType<typeof startClusterOn<Closable>>>;
export type OwnCluster = Awaited<ReturnType<typeof startCluster>>;
export type Replica = Awaited<ReturnType<typeof startReplica>>;

type Settings = Readonly<Record<string, string>>;
type Closable = { readonly url: string; close(): Promise<void> };

/** Two replicas behind a balancer, with a PostgreSQL, a Redis and a mail server that nobody else uses. */
export const startCluster = async (settings: Settings = {}) => startClusterOn(await startPostgres(), settings);

/** The same on another PostgreSQL. */
export async function startClusterOn<Postgres extends Closable>(postgres: Postgres, settings: Settings = {}) {
  const [redis, mail] = await Promise.all([startOwnRedis(), startMailServer()]);
  await migrate(postgres.url);
  const shared = {
    DATABASE_URL: postgres.url,
    ...(redis.url === undefined ? {} : { REDIS_URL: redis.url }),
    SMTP_URL: mail.url,
    SECRET_KEYS,
    DRAIN_SECONDS: '1',
    ...ROOMY,
    ...settings,
  };
  const replicas = await Promise.all([startReplica(shared), startReplica(shared)]);
  const balancer = await startBalancer(replicas.map(({ port }) => port));

  async function rows<Row>(sql: string, values: readonly unknown[] = []): Promise<Row[]> {
    // A connection of its own, because the server may have been stopped since the last one.
    const client = createClient(postgres.url);
    await client.connect();
    try {
      const result = await client.query(sql, [...values]);
      return result.rows as Row[]; // the caller's SQL says what they are
    } finally {
      await client.end();
    }
  }

  return {
    postgres,
    redis,
    mail,
    replicas,
    balancer,
    rows,
    /** Makes rows before there is a fault. */
    async make<Made>(
      work: (factories: ReturnType<typeof factoriesOf>, services: Services) => Promise<Made>,
    ): Promise<Made> {
      const db = await openDatabase(postgres.url, 4);
      const services = {
        config: readConfig({ DATABASE_URL: postgres.url, SECRET_KEYS }),
        db,
        tokens: createTokens('rst'),
        encryption: createEncryption([SECRET_KEYS]),
        audit: () => undefined,
      };
      useEventKey(db, services.encryption);
      return work(factoriesOf(services), services).finally(() => db.close());
    },
    async close(): Promise<void> {
      await balancer.close();
      await Promise.all(replicas.map((replica) => replica.close()));
      await Promise.all([redis.kill(), mail.close(), postgres.close()]);
    },
  };
}

/** A Redis that can be stopped and comes back where it was. Where none is installed, each replica counts for itself. */
async function startOwnRedis() {
  let server = hasRedis ? await startRedis() : undefined;
  const { url, port = 0 } = server ?? {};
  return {
    url,
    port,
    kill: async () => server?.stop(),
    start: async () => void (server = await startRedis({ port })),
    stall(): () => void {
      server?.kill('SIGSTOP');
      return () => server?.kill('SIGCONT');
    },
  };
}

/** One replica, which is always on the same port. */
async function startReplica(settings: Settings) {
  const dataDir = makeDataDir();
  const port = await freePort();
  const start = (own: Settings = {}) => startService({ dataDir, env: { ...settings, ...own, PORT: String(port) } });
  let service = await start();

  return {
    port,
    /** What it has printed since its last start. */
    lines: () => service.lines,
    kill: (signal: NodeJS.Signals) => service.kill(signal),
    async end(signal: 'SIGTERM' | 'SIGKILL'): Promise<Exit> {
      service.kill(signal);
      return service.exited;
    },
    /** Resolves when it is ready. */
    async start(own?: Settings): Promise<void> {
      service = await start(own);
    },
    /** What no test should find: that it ended or complained, or answered with an error of its own. */
    faults: (): string[] => [
      ...service.complaint().split('\n').filter(Boolean),
      ...service.lines.filter((line) => line.startsWith('{"level":50') || line.startsWith('{"level":60')),
    ],
    async close(): Promise<void> {
      service.kill('SIGKILL');
      await service.exited;
      await removeDataDir(dataDir);
    },
  };
}

/** A module that a replica loads before its own, for the environment of its process. */
export const preload = (name: 'clock' | 'heap' | 'newer-version'): Settings => ({
  NODE_OPTIONS: `--import ${new URL(`./preload/${name}.ts`, import.meta.url).href}`,
});
