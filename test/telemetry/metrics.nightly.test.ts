import { once } from 'node:events';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, onTestFinished, test } from 'vitest';
import { ADVISORY_LOCKS } from '../../src/db/advisory-locks.ts';
import { createMetrics } from '../../src/telemetry/metrics.ts';
import { firstPartyTokens } from '../oauth/first-party-flow.ts';
import { aToldClient } from '../oauth/logout-jobs.ts';
import { signedIn } from '../support/browser.ts';
import { hasRedis, startRedis } from '../support/redis.ts';
import { freePort } from '../support/free-port.ts';
import { launchService, makeDataDir, removeDataDir } from '../support/service.ts';
import { as } from '../trpc/console.ts';
import { aReceiver } from '../webhooks/receiver.ts';
import { aWatchedService } from './service.ts';
import { PATIENCE_MS } from '../support/patience.ts';

const BOUND = { interval: 20, timeout: PATIENCE_MS };
const count = (labels: string): string => `roster_http_request_duration_seconds_count{${labels}}`;

describe('GET /metrics', () => {
  test('counts requests by operation and status, whatever paths are asked for', async () => {
    const { api, scrape } = await aWatchedService();
    const key = await api.anApiKey(await api.anAccount(), { scopes: ['teams:read'] });

    for (let i = 0; i < 3; i++) await api.as(key).get('/api/v1/teams');
    await api.as(null).get('/api/v1/teams');
    await api.as(key).get('/trpc/listTeams,getCredential?batch=1');
    await api.as(key).get('/trpc/getCredential');
    const before = (await scrape()).values.size;
    for (const path of ['/api/v1/a', '/api/v1/b', '/trpc/a', '/trpc/b', '/trpc/a,b?batch=1', '/trpc/b,a?batch=1']) {
      await api.as(key).get(path);
    }

    const { values, text } = await scrape();
    expect(values.get(count('operation="listTeams",status="200"'))).toBe(3);
    expect(values.get(count('operation="listTeams",status="401"'))).toBe(1);
    expect(values.get(count('operation="batch",status="200"'))).toBe(1);
    expect(values.get(count('operation="getCredential",status="200"'))).toBe(1);
    expect(values.get(count('operation="none",status="404"'))).toBe(6);
    expect(values.get('roster_http_request_duration_seconds_sum{operation="listTeams",status="200"}')).toBeGreaterThan(
      0,
    );
    // One more pair of operation and status: its buckets, sum and count.
    expect(values.size - before).toBe(16);
    for (const name of [
      'nodejs_eventloop_lag_p99_seconds',
      'process_cpu_seconds_total',
      'roster_db_pool_waiting{pool="lists"}',
    ]) {
      expect(values.has(name), name).toBe(true);
    }
    expect(text).toMatch(/roster_db_pool_connections\{pool="reads",state="idle"\} [1-9]/);
    expect(text).toContain('roster_db_pool_connections{pool="writes",state="used"}');
    expect(text).toContain('roster_db_queue_length{queue="lists"} 0');
  });

  test('shows how far webhooks are behind, and how many endpoints get none', async () => {
    const { api, scrape } = await aWatchedService();
    await api.rows(
      `insert into webhook_endpoint (id, created_at, url, types, secret, disabled_at, failing_since)
       select 'whe_' || n, now(), '', '{}', '', case when n = 1 then now() end, now() from generate_series(1, 3) n`,
      [],
    );
    // The second one waits between two attempts. What a disabled endpoint does not get is not late.
    await api.rows(
      `insert into webhook_delivery (id, created_at, endpoint_id, event, state, attempts, due_at)
       select 'whd_' || n, now() - n * interval '2 hours', 'whe_' || endpoint, 'team.updated', state, 6, now() + interval '1 hour'
       from (values (1, 2, 'waiting'), (2, 3, 'waiting'), (3, 3, 'delivered'), (4, 1, 'waiting')) d (n, endpoint, state)`,
    );

    const { values } = await scrape();
    expect(values.get('roster_webhook_endpoints{state="disabled"}')).toBe(1);
    expect(values.get('roster_webhook_endpoints{state="failing"}')).toBe(2);
    expect(values.get('roster_webhook_overdue_seconds')).toBe(0);
    expect(Math.round((values.get('roster_webhook_undelivered_age_seconds') ?? 0) / 3600)).toBe(4);
    expect(values.get('roster_webhook_sequence_lag')).toBe(0);
  });

  test('counts how attempts to deliver webhooks end', async () => {
    const { api, scrape } = await aWatchedService();
    const types = ['api_key.created' as const];
    const answering = async (status: number) => (await aReceiver((_req, res) => res.writeHead(status).end())).url;
    const owner = await api.anAccount();
    const team = await api.aTeam({ owner });
    const member = await api.anAccount();
    const role = await api.aRole(team, ['edit_team_settings', 'manage_api_keys']);
    await api.aMember(team, member, { role: role.id });
    const [trpc, theirs] = [await as(api, owner), await as(api, member)];
    for (const status of [200, 500, 410])
      await trpc.webhooks.create.mutate({ teamId: team.id, types, url: await answering(status) });
    // Skipped, because who is responsible for it may no longer see keys.
    await theirs.webhooks.create.mutate({ teamId: team.id, types, url: await answering(200) });
    await api.rows(`update role set permissions = '{edit_team_settings}' where id = $1`, [role.id]);

    await trpc.createApiKey.mutate({ name: 'Key', teamId: team.id, scopes: ['teams:read'] });

    const outcomes = async () => {
      const { values } = await scrape();
      return ['delivered', 'retried', 'failed', 'skipped'].map((outcome) =>
        Math.min(values.get(`roster_webhook_attempts_total{outcome="${outcome}"}`) ?? 0, 2),
      );
    };
    // On a slow machine, the one that answers 500 can have been tried again meanwhile.
    await expect.poll(outcomes, BOUND).toEqual([1, expect.toBeOneOf([1, 2]), 1, 1]);
  });

  test('counts how attempts to tell applications of a logout end', async () => {
    const { api, scrape } = await aWatchedService();
    const visitor = await signedIn(api, await api.anAccount());
    for (const status of [200, 500]) {
      const application = createServer((_req, res) => res.writeHead(status).end());
      await once(application.listen(0, '127.0.0.1'), 'listening');
      onTestFinished(() => void application.close());
      const { port } = application.address() as AddressInfo; // listening on TCP
      const client = await aToldClient(api, `http://127.0.0.1:${port}/logout`);
      await firstPartyTokens(api, { client, visitor }, { scope: 'openid' });
    }

    await visitor.trpc.auth.signOut.mutate();

    const outcomes = async () => {
      const { values } = await scrape();
      return ['delivered', 'retried', 'failed'].map((outcome) =>
        Math.min(values.get(`roster_logout_attempts_total{outcome="${outcome}"}`) ?? -1, 1),
      );
    };
    await expect.poll(outcomes, BOUND).toEqual([1, 1, 0]);
  });

  test('shows for how long events have had no position: while nothing numbers them, and those that never get one', async () => {
    const { api, scrape } = await aWatchedService();
    const key = await api.anApiKey(await api.anAccount(), { scopes: ['profile:write'] });
    const ages = async () => {
      const { values } = await scrape();
      return ['new', 'pending'].map((state) => values.get(`roster_events_unnumbered_age_seconds{state="${state}"}`));
    };
    const rename = (name: string) => api.as(key).patch('/api/v1/me', { firstName: name, lastName: 'Lovelace' });
    const oldest = async (state: 0 | 1) => (await ages())[state] ?? 0;
    await rename('Ada');
    await expect.poll(ages, BOUND).toEqual([0, 0]);

    // What a worker leaves that hangs: the lock, and the events that are recorded meanwhile.
    const standing = Promise.withResolvers<void>();
    const locked = Promise.withResolvers<void>();
    const holder = api.services.db.transact(async ({ em: tx }) => {
      await tx.execute('select pg_advisory_xact_lock(?)', [ADVISORY_LOCKS.auditChain]);
      locked.resolve();
      await standing.promise;
    });
    await locked.promise;
    await rename('Augusta');
    await expect.poll(() => oldest(0), BOUND).toBeGreaterThan(1);
    standing.resolve();
    await holder;
    await expect.poll(ages, BOUND).toEqual([0, 0]);

    // Without a MAC, an event waits for `audit verify`.
    await api.rows(
      `insert into audit_event (id, occurred_at, event, actor_kind, details)
       values ('evt_forged', now() - interval '1 hour', 'team.created', 'system', '{}')`,
    );
    await expect.poll(() => oldest(1), BOUND).toBeGreaterThanOrEqual(3600);
    await expect.poll(() => oldest(0), BOUND).toBe(0);
  });

  test('counts what rate limits decide', async () => {
    const { api, scrape } = await aWatchedService({ RATE_LIMIT: '2', SIGN_IN_ADDRESS_LIMIT: '1' });
    const key = await api.anApiKey(await api.anAccount());
    const decisions = (labels: string) => `roster_rate_limit_decisions_total{${labels}}`;

    for (let i = 0; i < 5; i++) await api.as(key).get('/api/v1/credential');

    const { values } = await scrape();
    expect(values.get(decisions('counted="requests",outcome="allowed"'))).toBe(2);
    expect(values.get(decisions('counted="requests",outcome="refused"'))).toBe(3);
    expect(values.get(decisions('counted="by_address",outcome="refused"'))).toBe(0);
    expect(values.get(decisions('counted="oauth_by_client",outcome="allowed"'))).toBe(0);
  });

  test.skipIf(!hasRedis)('counts how often Redis was lost', async () => {
    const redis = await startRedis();
    const { api, scrape } = await aWatchedService({ REDIS_URL: redis.url });
    const key = await api.anApiKey(await api.anAccount());
    await api.as(key).get('/api/v1/credential');
    const lost = async () => (await scrape()).values.get('roster_redis_fallbacks_total{counted="requests"}');
    expect(await lost()).toBe(0);

    await redis.stop();

    await expect.poll(lost, BOUND).toBe(1);
  });

  test('shows the queue, and answers without it where the database does not', async () => {
    const { api, scrape } = await aWatchedService();
    const add = (runAt: string, attempts: number) =>
      api
        .rows(`select graphile_worker.add_job('nobody', run_at := now() + $1::interval, max_attempts := 2)`, [runAt])
        .then(() =>
          api.rows(
            `update graphile_worker._private_jobs set attempts = $1 where id = (select max(id) from graphile_worker._private_jobs)`,
            [attempts],
          ),
        );
    const states = async () => {
      const { values } = await scrape();
      return ['ready', 'running', 'scheduled', 'retrying', 'spent'].map((state) =>
        values.get(`roster_jobs{state="${state}"}`),
      );
    };
    await expect.poll(states, BOUND).toEqual([0, 0, 0, 0, 0]);

    await add('-90 seconds', 0);
    await add('1 hour', 0);
    await add('2 hours', 0);
    await add('1 hour', 1);
    await add('-1 hour', 2);

    await expect.poll(states, BOUND).toEqual([1, 0, 2, 1, 1]);
    expect((await scrape()).values.get('roster_jobs_ready_age_seconds')).toBeGreaterThanOrEqual(90);

    await api.rows('alter schema graphile_worker rename to away');

    await expect.poll(states, BOUND).toEqual([undefined, undefined, undefined, undefined, undefined]);
    expect((await scrape()).values.has('roster_jobs_ready_age_seconds')).toBe(false);
    expect((await scrape()).text).toContain('nodejs_eventloop_lag_seconds');
    await api.rows('alter schema away rename to graphile_worker');
  });

  // Guarantees that metrics are not public.
  test('is only on its own port, where nothing else is served', async () => {
    const { api, metricsPort } = await aWatchedService();
    const ask = (method: string, path: string) =>
      new Promise<number | undefined>((resolve, reject) => {
        request({ host: '127.0.0.1', port: metricsPort, method, path }, (res) => {
          res.resume();
          resolve(res.statusCode);
        })
          .on('error', reject)
          .end();
      });

    expect((await api.anonymous.get('/metrics')).status).toBe(404);
    expect(await ask('GET', '/metrics')).toBe(200);
    expect(await ask('GET', '/metrics?a=b')).toBe(200);
    expect(await ask('POST', '/metrics')).toBe(405);
    for (const path of ['/', '/api/v1/teams', '/metrics/', '/healthz']) expect(await ask('GET', path)).toBe(404);
  });

  test('a scrape that fails is a 500, and the next one works', async () => {
    const metrics = createMetrics();
    let isBroken = true;
    const pool = {
      get totalCount() {
        if (isBroken) throw new Error('the pool is closed');
        return 1;
      },
      idleCount: 0,
      waitingCount: 0,
    };
    metrics.watchPools({ reads: pool });
    const server = createServer(metrics.listener).listen(0, '127.0.0.1');
    onTestFinished(() => void server.close());
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo; // listening on TCP
    const scrapeStatus = async () => (await fetch(`http://127.0.0.1:${port}/metrics`)).status;

    expect(await scrapeStatus()).toBe(500);
    isBroken = false;
    expect(await scrapeStatus()).toBe(200);
  });

  test('a port that is the public one stops the start with a line that names it', async () => {
    const dataDir = makeDataDir();
    const port = String(await freePort());

    const service = launchService({ dataDir, env: { PORT: port, METRICS_PORT: port } });

    expect((await service.exited).code).toBe(1);
    expect(service.complaint()).toMatch(/^roster: METRICS_PORT: .*\n$/);
    await removeDataDir(dataDir);
  });
});
