import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startCluster, type Cluster } from './cluster.ts';
import { auditMails, mailsLeave } from './ledger.ts';
import { printTable } from './table.ts';
import { RECOVERY_MS_MAX, underLoad, type Result } from './under-load.ts';

// A wait for a connection, then one for a statement, each bounded; the rest is for a busy machine.
const ANSWER_MS_MAX = 2000 + 5000 + 3000;

const POOL = 5;

let cluster: Cluster;

beforeAll(async () => {
  cluster = await startCluster({ DATABASE_POOL_MAX: String(POOL) });
});

afterAll(() => cluster.close());

printTable();

/** What is promised of any time without a database. */
function expectOnlyUnavailable({ unavailable, broken, recoveryMs, slowestMs }: Result): void {
  expect(unavailable.length).toBeGreaterThan(0);
  expect(broken).toEqual([]);
  expect(recoveryMs).toBeLessThan(RECOVERY_MS_MAX);
  expect(slowestMs).toBeLessThan(ANSWER_MS_MAX);
  expect(cluster.replicas.flatMap((replica) => replica.faults())).toEqual([]);
}

describe('while PostgreSQL', () => {
  test.each([
    ['restarts', 'SIGINT', 'PostgreSQL restart'],
    ['recovers from a crash', 'SIGQUIT', 'PostgreSQL crash'],
  ] as const)('%s, requests are told to come again, and soon are served', async (_, signal, name) => {
    const result = await underLoad(cluster, name, {
      async inject() {
        await cluster.postgres.stop(signal);
        await cluster.postgres.start();
      },
    });
    await mailsLeave(cluster);

    expectOnlyUnavailable(result);
    expect((await auditMails(cluster, result.load.ledger)).missing).toEqual([]);
  });

  test('hangs for 5 s, requests wait within bounds, and soon are served', async () => {
    const result = await underLoad(cluster, 'PostgreSQL SIGSTOP for 5 s', {
      async inject() {
        const resume = cluster.postgres.stall();
        await sleep(5000);
        resume();
      },
    });

    expectOnlyUnavailable(result);
  });

  test('gives no connection back, requests wait within bounds, and soon are served', async () => {
    const result = await underLoad(cluster, 'full connection pool', {
      async inject(load) {
        const free = await holdEveryAccount();
        await expect
          .poll(() => load.samples.filter(({ outcome }) => outcome === 'unavailable').length, { timeout: 15_000 })
          .toBeGreaterThan(2 * POOL);
        await free();
      },
    });

    expectOnlyUnavailable(result);
  });

  test('lets nobody in, requests are told to come again, and soon are served', async () => {
    const result = await underLoad(cluster, 'no connection left on the server', {
      async inject(load) {
        const free = await takeEveryConnection();
        await expect
          .poll(() => load.samples.filter(({ outcome }) => outcome === 'unavailable').length, { timeout: 15_000 })
          .toBeGreaterThan(20);
        await free();
      },
    });

    expectOnlyUnavailable(result);
  });
});

/** Locks what every writer needs, so that each write keeps its connection. */
async function holdEveryAccount(): Promise<() => Promise<void>> {
  const client = new pg.Client({ connectionString: cluster.postgres.url });
  await client.connect();
  await client.query('begin');
  await client.query('lock table account, team, api_key in access exclusive mode');
  return () => client.end();
}

/** Takes the connections that the replicas have, and those that are left. */
async function takeEveryConnection(): Promise<() => Promise<void>> {
  const admin = new pg.Client({ connectionString: cluster.postgres.url });
  await admin.connect();
  await admin.query('alter database roster connection limit 0');
  await admin.query(`alter role roster connection limit 1`);
  await admin.query(
    'select pg_terminate_backend(pid) from pg_stat_activity where pid <> pg_backend_pid() and datname = current_database()',
  );
  return async () => {
    await admin.query('alter role roster connection limit -1');
    await admin.query('alter database roster connection limit -1');
    await admin.end();
  };
}
