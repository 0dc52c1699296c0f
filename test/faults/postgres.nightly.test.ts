import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startCluster, type OwnCluster } from './cluster.ts';
import { auditMails, mailsOfCutOffLeave } from './ledger.ts';
import { printTable } from './table.ts';
import { RECOVERY_MS_MAX, underLoad, type Result } from './under-load.ts';

const POOL = 5;

/** More than both pools have connections. */
const CROWD = { workers: 6 * POOL, pauseMs: 100 };

let cluster: OwnCluster;

beforeAll(async () => {
  cluster = await startCluster({ DATABASE_POOL_MAX: String(POOL) });
});

afterAll(() => cluster.close());

printTable();

/** What is promised of any time without a database. */
function expectOnlyUnavailable({ unavailable, broken }: Result): void {
  expect(unavailable.length).toBeGreaterThan(0);
  expect(broken).toEqual([]);
  expect(cluster.replicas.flatMap((replica) => replica.faults())).toEqual([]);
}

describe('while PostgreSQL', () => {
  test.each([
    ['restarts', 'SIGINT', 'PostgreSQL restart'],
    ['recovers from a crash', 'SIGQUIT', 'PostgreSQL crash'],
  ] as const)('%s, requests are told to come again, and soon are served', async (_, signal, name) => {
    const result = await underLoad(cluster, name, {
      lookFor: RECOVERY_MS_MAX,
      async inject() {
        await cluster.postgres.stop(signal);
        await cluster.postgres.start();
      },
    });
    await mailsOfCutOffLeave(cluster);

    expectOnlyUnavailable(result);
    expect(await auditMails(cluster, result.load.ledger)).toEqual({ missing: [], repeated: [], stray: [] });
  });

  test('hangs for 5 s, requests wait within bounds, and soon are served', async () => {
    const result = await underLoad(cluster, 'PostgreSQL SIGSTOP for 5 s', {
      ...CROWD,
      lookFor: RECOVERY_MS_MAX,
      async inject() {
        const resume = cluster.postgres.stall();
        await sleep(5000);
        resume();
      },
    });

    expectOnlyUnavailable(result);
  });

  test('is read-only, kept connections are left, no replica is ready, and soon requests are served', async () => {
    const result = await underLoad(cluster, 'PostgreSQL read-only for 3 s', {
      lookFor: RECOVERY_MS_MAX,
      async inject() {
        await setReadOnly('on');
        const reason = (port: number) => fetch(`http://127.0.0.1:${port}/readyz`).then((answer) => answer.json());
        for (const { port } of cluster.replicas)
          await expect.poll(() => reason(port)).toEqual({ status: 'unavailable', reason: 'the database is read-only' });
        await sleep(3000);
        await setReadOnly('off');
      },
    });
    await mailsOfCutOffLeave(cluster);

    expectOnlyUnavailable(result);
    // Reads as well: a former primary returns data from before a revocation.
    expect(result.unavailable.filter(({ operation }) => READS.has(operation))).not.toEqual([]);
    expect(await auditMails(cluster, result.load.ledger)).toMatchObject({ missing: [], stray: [] });
  });

  test('makes all writers wait, they wait within bounds, reads are served, and soon all are', async () => {
    const result = await underLoad(cluster, 'full connection pool', {
      ...CROWD,
      lookFor: RECOVERY_MS_MAX,
      async inject(load) {
        const free = await holdWriters();
        const denied = () => load.samples.filter(({ outcome }) => outcome === 'unavailable');
        await expect
          .poll(() => denied().length)
          .toBeGreaterThan(POOL)
          .finally(free);
      },
    });

    expectOnlyUnavailable(result);
    expect(result.unavailable.filter(({ operation }) => READS.has(operation))).toEqual([]);
  });
});

const READS: ReadonlySet<string> = new Set(['getTeam', 'listTeamMembers', 'getCredential']);

/** Makes the server accept no writes, also on the connections that there are, as providers do when a disk is full. */
async function setReadOnly(state: 'on' | 'off'): Promise<void> {
  const client = new pg.Client({ connectionString: cluster.postgres.url });
  await client.connect();
  await client.query(`alter system set default_transaction_read_only = ${state}`);
  await client.query('select pg_reload_conf()');
  await client.end();
}

/** Locks what writers lock, so that each of them keeps its connection until its time is over. */
async function holdWriters(): Promise<() => Promise<void>> {
  const client = new pg.Client({ connectionString: cluster.postgres.url });
  await client.connect();
  await client.query('begin');
  await client.query('lock table account in exclusive mode');
  return () => client.end();
}
