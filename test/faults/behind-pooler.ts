import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { run } from '../cli/roster.ts';
import { startPgBouncer, type PgBouncer, type PgBouncerOptions } from '../support/pgbouncer.ts';
import { startClusterOn, type OwnCluster } from './cluster.ts';
import { startPostgres } from './postgres.ts';
import { auditMails, mailsLeave } from './ledger.ts';
import { underLoad } from './under-load.ts';

const SECRET_KEYS = 'test-key-test-key-test-key-test-key';
const WORKERS = 20;

/**
 * Declares what holds behind a real PgBouncer in one mode.
 * @param says what `doctor` calls the mode
 */
export const describeBehind = (name: string, options: PgBouncerOptions, says: string) =>
  describe(`behind PgBouncer in ${name}, which each replica detects`, () => {
    const label = name.replaceAll(' ', '-');
    let bouncer: PgBouncer;
    let cluster: OwnCluster;

    beforeAll(async () => {
      const postgres = await startPostgres();
      bouncer = await startPgBouncer(postgres.url, options);
      cluster = await startClusterOn(postgres, { DATABASE_URL: bouncer.url });
    });

    afterAll(async () => {
      await cluster.close();
      await bouncer.stop();
    });

    const roster = (...args: readonly string[]) =>
      run({ DATABASE_URL: bouncer.url, SECRET_KEYS, REDIS_URL: cluster.redis.url, SMTP_URL: cluster.mail.url }, args);

    test(`${WORKERS} clients that read and write while replicas restart get right answers, except a few 503, and every mail`, async () => {
      const { broken, load } = await underLoad(cluster, `PgBouncer, ${name}, rolling restart`, {
        workers: WORKERS,
        async inject() {
          for (const replica of cluster.replicas) {
            await replica.end('SIGTERM');
            await replica.start();
            await expect.poll(() => cluster.balancer.isReady(replica.port)).toBe(true);
          }
        },
      });
      await mailsLeave(cluster);

      expect(broken).toEqual([]);
      expect(await auditMails(cluster, load.ledger)).toEqual({ missing: [], repeated: [], stray: [] });
      expect(cluster.replicas.flatMap((replica) => replica.faults())).toEqual([]);
    });

    test('commands work beside the service: migrations, changes, backups and `doctor`, which names the pooler', async () => {
      const file = join(tmpdir(), `roster-pooler-${label}-${process.pid}.backup`);
      onTestFinished(() => rm(file, { force: true }));
      const email = `${label}@example.com`;

      await cluster.rows('create database fresh');
      const fresh = { DATABASE_URL: bouncer.url.replace(/\/\w+$/, '/fresh'), SECRET_KEYS };
      const migrations = await Promise.all([run(fresh, ['migrate']), run(fresh, ['migrate'])]);
      expect(migrations.map(({ code, stderr }) => ({ code, stderr }))).toEqual([
        { code: 0, stderr: '' },
        { code: 0, stderr: '' },
      ]);
      expect(await roster('account', 'create', '--email', email, '--verified')).toMatchObject({ code: 0, stderr: '' });
      expect(await roster('team', 'create', '--name', 'Core', '--owner', email)).toMatchObject({ code: 0, stderr: '' });
      expect(await roster('backup', '--to', file)).toMatchObject({ code: 0, stderr: '' });
      expect(await roster('audit', 'verify')).toMatchObject({ code: 0, stderr: '' });
      const { stdout } = await roster('doctor');
      expect(stdout).toContain(`pooler          ${says}`);
      expect(stdout).not.toContain('FAILED');
    });

    test('a write that waits for a lock is 503 in time, ends at the server too, and leaves no setting behind', async () => {
      const email = `waits-${label}@example.com`;
      await roster('account', 'create', '--email', email, '--verified');
      const { stdout } = await roster('key', 'create', '--email', email, '--scopes', 'teams:write', '--json');
      const { secret } = JSON.parse(stdout) as { secret: string };
      const locker = new pg.Client({ connectionString: cluster.postgres.url });
      await locker.connect();
      await locker.query('begin; lock table team in access exclusive mode');

      const answer = await fetch(`http://127.0.0.1:${cluster.balancer.port}/api/v1/teams`, {
        method: 'POST',
        headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
        body: JSON.stringify({ name: 'Late' }),
      });
      // Beside the email of the key, which names its team.
      const waiting = await cluster.rows(
        `select query from pg_stat_activity where wait_event_type = 'Lock' and query not like '%as team_name%'`,
      );
      await locker.end();

      expect(answer.status).toBe(503);
      expect(waiting).toEqual([]);
      expect(await timeoutsOfServers(bouncer)).toEqual(['0 0']);
    });
  });

/** The timeouts that a client sees at once on all connections of the pooler to the server. */
async function timeoutsOfServers({ url }: PgBouncer): Promise<string[]> {
  const clients = Array.from({ length: 4 }, () => new pg.Client({ connectionString: url }));
  await Promise.all(clients.map((client) => client.connect()));
  const seen = await Promise.all(
    clients.map(async (client) => {
      const { rows } = await client.query<{ timeouts: string }>(
        `select concat_ws(' ', current_setting('statement_timeout'), current_setting('lock_timeout')) as timeouts
         from pg_sleep(0.2)`,
      );
      return rows[0]?.timeouts ?? '';
    }),
  );
  await Promise.all(clients.map((client) => client.end()));
  return [...new Set(seen)];
}
