import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Pool, PoolClient } from 'pg';
import { describe, expect, inject, onTestFinished, test } from 'vitest';
import { readConfig } from '../../src/config/config.ts';
import { createPool } from '../../src/db/connection/connection.ts';
import { BusyConnectionError, onBusyRelease, type BusyRelease } from '../../src/db/connection/idle-releases.ts';
import { openDatabase } from '../../src/db/database.ts';
import { openOrm } from '../../src/db/connection/orm.ts';
import { withPooler } from '../../src/config/database-url.ts';
import { openQueuePool } from '../../src/jobs/queue-pool.ts';
import { watchBusyReleases } from '../../src/service/busy-releases.ts';

const log = { info: () => undefined, warn: () => undefined, error: () => undefined };
const url = inject('templateUrl').replace(/[^/]+$/, 'postgres');
const SRC = join(import.meta.dirname, '../../src');

const openQueue = (databaseUrl: string, max = 1) =>
  openQueuePool(databaseUrl, readConfig({ DATABASE_URL: url, SECRET_KEYS: 'k'.repeat(40) }), max, log as never);

async function ofDatabase(name: 'reads' | 'writes' | 'lists'): Promise<Pool> {
  const db = await openDatabase(url, 3);
  onTestFinished(() => db.close());
  return db.pools[name];
}

/** Every pool of the service, by the file that makes it, with what it is called. */
const POOLS: readonly (readonly [what: string, file: string, open: () => Promise<Pool>, name: string])[] = [
  ['short reads', 'db/connection/pools.ts', () => ofDatabase('reads'), 'reads'],
  ['lists', 'db/connection/pools.ts', () => ofDatabase('lists'), 'lists'],
  ['changes', 'db/connection/orm.ts', () => ofDatabase('writes'), 'writes'],
  [
    'migrations',
    'db/connection/orm.ts',
    async () => {
      const orm = await openOrm(url, { poolMax: 1 });
      onTestFinished(() => orm.close(true));
      return orm.em.getConnection().getNativeClient();
    },
    'migration',
  ],
  [
    'the sequencer, webhooks and the migration of jobs',
    'db/connection/connection.ts',
    async () => {
      const pool = createPool(url, { purpose: 'events', max: 1 });
      onTestFinished(() => pool.end());
      return pool;
    },
    'events',
  ],
  ...(['none', 'transaction'] as const).map(
    (pooler) =>
      [
        `jobs, with pooler=${pooler}`,
        'jobs/queue-pool.ts',
        async () => {
          const queue = openQueue(withPooler(url, pooler));
          onTestFinished(() => queue.end());
          return queue.pool;
        },
        'worker',
      ] as const,
  ),
];

/** How somebody can give a connection back that is not idle. */
const ENDINGS: readonly (readonly [how: string, statement: string, leave: (client: PoolClient) => Promise<unknown>])[] =
  [
    ['inside of a transaction', 'begin', (client) => client.query('begin')],
    [
      'inside of a transaction that failed',
      'divide',
      async (client) => {
        await client.query('begin');
        await client.query({ name: 'divide', text: 'select 1/0' }).catch(() => undefined);
      },
    ],
    [
      'before a statement is answered',
      'select',
      (client) => {
        client.query('select pg_sleep(30)').catch(() => undefined);
        return Promise.resolve();
      },
    ],
  ];

const pidOf = async (client: PoolClient) =>
  (await client.query<{ pid: number }>('select pg_backend_pid() as pid')).rows[0]?.pid;

describe.for(POOLS)('the pool of %s', ([, , open, name]) => {
  test.for(ENDINGS)('keeps no connection that is given back %s, and says so', async ([, statement, leave]) => {
    const told: BusyRelease[] = [];
    onTestFinished(onBusyRelease((release) => told.push(release)));
    const pool = await open();
    const client = await pool.connect();
    const pid = await pidOf(client);
    await leave(client);
    client.release();

    const next = await pool.connect();
    expect(await pidOf(next)).not.toBe(pid);
    expect(told).toMatchObject([{ pool: name, statement }]);
    expect(told[0]?.error.stack).toContain('idle-releases.test.ts');
    next.release();
  });

  test('keeps one that is idle', async () => {
    const pool = await open();
    const client = await pool.connect();
    const pid = await pidOf(client);
    await client.query('begin');
    await client.query('commit');
    client.release();

    const next = await pool.connect();
    expect(await pidOf(next)).toBe(pid);
    next.release();
  });
});

test('a connection that is given back busy is logged with its pool and statement, and counted, until it is stopped', async () => {
  const [warnings, counted]: [object[], string[]] = [[], []];
  const warn = (fields: object) => void warnings.push(fields);
  const stop = watchBusyReleases({ ...log, warn } as never, { onBusyRelease: (pool) => void counted.push(pool) });
  onTestFinished(stop);
  const pool = await ofDatabase('writes');
  const giveBackBusy = async () => {
    const client = await pool.connect();
    await client.query('begin');
    client.release();
  };

  await giveBackBusy();
  expect(counted).toEqual(['writes']);
  expect(warnings).toEqual([{ pool: 'writes', statement: 'begin', err: expect.any(BusyConnectionError) }]);

  stop();
  await giveBackBusy();
  expect([counted.length, warnings.length]).toEqual([1, 1]);
});

test('every file that makes a pool is in the table', () => {
  const makers = globSync('**/*.ts', { cwd: SRC, exclude: ['web/**'] }).filter((file) =>
    /new (?:pg\.)?Pool(?:WithoutSessions)?\(|MikroORM\.init\(/.test(readFileSync(join(SRC, file), 'utf8')),
  );
  expect(makers.toSorted()).toEqual([...new Set(POOLS.map(([, file]) => file))].toSorted());
});
