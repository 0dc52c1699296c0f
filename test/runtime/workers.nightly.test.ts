import { existsSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { Api } from '../support/api.ts';
import { hasRedis } from '../support/redis.ts';
import { freePort } from '../support/free-port.ts';
import { launchService } from '../support/service.ts';
import {
  aDatabase,
  aDataDir,
  aRedis,
  BOUND,
  get,
  isRunning,
  linesOf,
  ofDatabase,
  pidsOf,
  SECRET_KEYS,
  twoWorkers,
  type Line,
} from './workers.ts';

describe.skipIf(!hasRedis || process.platform === 'win32')('several workers', () => {
  test('share a port; logs and metrics tell which one it was, and one of them runs the jobs', async () => {
    const database = await aDatabase();
    const key = await database.anApiKey(await database.anAccount(), { scopes: ['teams:read'] });
    const metricsPort = await freePort();
    const service = await twoWorkers({ ...ofDatabase(database), METRICS_PORT: String(metricsPort) });

    for (let i = 0; i < 8; i += 1) await get(service, key.secret, `share-${i}`);

    const workersOf = (wanted: (line: Line) => boolean) =>
      new Set(
        linesOf(service)
          .filter(wanted)
          .map(({ worker }) => worker),
      );
    await expect
      .poll(() => workersOf(({ clientRequestId }) => String(clientRequestId).startsWith('share-')), BOUND)
      .toEqual(new Set([1, 2]));
    expect(workersOf(({ msg }) => msg.includes('looking for jobs'))).toEqual(new Set([1]));
    const scraped = await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text();
    for (const worker of [1, 2])
      expect(scraped).toMatch(
        new RegExp(`^roster_http_request_duration_seconds_count\\{[^}]*worker="${worker}"[^}]*\\} [1-9]`, 'm'),
      );
    expect(scraped.match(/^roster_jobs\{[^}]*state="ready"[^}]*\}/gm)).toHaveLength(1);
  });

  test('a replacement that cannot start is tried again at growing intervals, while the other worker serves', async () => {
    const database = await aDatabase();
    const key = await database.anApiKey(await database.anAccount(), { scopes: ['teams:read'] });
    const service = await twoWorkers(ofDatabase(database));
    // The connections that there are stay.
    await get(service, key.secret, 'before');
    const admin = await asAdmin(database);
    await admin(false);

    process.kill(pidsOf(service, 2)[0] ?? 0, 'SIGKILL');

    const delays = () =>
      linesOf(service).flatMap(({ msg, delayMs }) => (msg === 'worker replacement scheduled' ? [delayMs] : []));
    await expect.poll(() => delays().length, BOUND).toBeGreaterThanOrEqual(3);
    expect(delays().slice(0, 3)).toEqual([0, 1000, 2000]);
    expect((await fetch(`${service.url}/healthz`)).status).toBe(200);
    await admin(true);
    await expect.poll(() => pidsOf(service, 2).length, BOUND).toBe(2);
    expect(pidsOf(service, 1)).toHaveLength(1);
  });

  test('SIGTERM drains all of them and exits with 0 within its bound; no process stays', async () => {
    const database = await aDatabase();
    const key = await database.anApiKey(await database.anAccount(), { scopes: ['teams:read'] });
    const service = await twoWorkers({ ...ofDatabase(database), DRAIN_SECONDS: '1' });
    const pids = [...pidsOf(service, 1), ...pidsOf(service, 2)];

    service.kill('SIGTERM');
    const stoppedAt = performance.now();
    await expect.poll(async () => (await fetch(`${service.url}/readyz`)).status, BOUND).toBe(503);
    expect(await get(service, key.secret, 'draining')).toBe(200);

    expect(await service.exited).toEqual({ code: 0, signal: null });
    expect(performance.now() - stoppedAt).toBeGreaterThan(990);
    expect(pids).toHaveLength(2);
    expect(pids.filter(isRunning)).toEqual([]);
    expect(service.complaint()).toBe('');
    expect(linesOf(service).at(-1)).toMatchObject({ msg: 'stopped' });
  });

  test('use one embedded database, which outlives each worker and stops with the service', async () => {
    const dataDir = await aDataDir();
    const service = await twoWorkers({}, dataDir);
    expect(service.lines.filter((line) => line.includes('Demo data'))).toHaveLength(1);

    process.kill(pidsOf(service, 1)[0] ?? 0, 'SIGKILL');
    await expect.poll(() => pidsOf(service, 1).length, BOUND).toBe(2);

    expect((await fetch(`${service.url}/readyz`)).status).toBe(200);
    service.kill('SIGTERM');
    expect(await service.exited).toEqual({ code: 0, signal: null });
    expect(existsSync(join(dataDir, 'postgres', 'data', 'postmaster.pid'))).toBe(false);
  });

  test('one that fails at the first start ends the service with its reason in one line', async () => {
    const redisUrl = await aRedis();
    const nobody = await freePort();
    const service = launchService({
      dataDir: await aDataDir(),
      env: {
        WORKERS: '3',
        REDIS_URL: redisUrl,
        PORT: String(await freePort()),
        DATABASE_URL: `postgres://127.0.0.1:${nobody}/roster`,
        SECRET_KEYS,
      },
    });

    expect(await service.exited).toEqual({ code: 1, signal: null });
    expect(service.complaint()).toMatch(/^roster: DATABASE_URL: .+\n$/);
  });
});

test.each([
  ['2', /^roster: WORKERS: 2 processes count rate limits in Redis; set REDIS_URL, or WORKERS=1\n$/],
  ['many', /^roster: WORKERS: must be `auto` or a whole number from 1 to 256\n$/],
  ['0', /^roster: WORKERS: must be/],
])('WORKERS=%s without Redis is refused in one line', async (workers, complaint) => {
  const service = launchService({
    dataDir: await aDataDir(),
    env: { WORKERS: workers, PORT: String(await freePort()) },
  });

  expect((await service.exited).code).toBe(1);
  expect(service.complaint()).toMatch(complaint);
});

/** Allows or denies new connections to the database. */
async function asAdmin({ databaseUrl }: Api) {
  const url = new URL(databaseUrl);
  const name = url.pathname.slice(1);
  url.pathname = '/postgres';
  const client = new pg.Client({ connectionString: url.href });
  await client.connect();
  onTestFinished(() => client.end());
  return (isAllowed: boolean) => client.query(`alter database ${name} allow_connections ${isAllowed}`);
}
