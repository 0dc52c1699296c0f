import { Agent, request } from 'node:http';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { describe, expect, onTestFinished, test } from 'vitest';
import { startApi, type Api } from '../support/api.ts';
import { createClient } from '../support/client.ts';
import { hasRedis, startRedis } from '../support/redis.ts';
import { freePort, launchService, makeDataDir, removeDataDir, startService, type Service } from '../support/service.ts';

const SECRET_KEYS = 'test-key-test-key-test-key-test-key';
const BOUND = { interval: 20, timeout: 25_000 };

type Line = { readonly msg: string; readonly pid: number; readonly worker?: number } & Readonly<
  Record<string, unknown>
>;

const linesOf = ({ lines }: Pick<Service, 'lines'>): Line[] =>
  lines.filter((line) => line.startsWith('{')).map((line) => JSON.parse(line) as Line); // pino writes an object a line

/** The process ids of each worker that has listened, in order. */
const pidsOf = (service: Service, worker: number): number[] =>
  linesOf(service).flatMap((line) => (line.msg === 'listening' && line.worker === worker ? [line.pid] : []));

const isRunning = (pid: number): boolean => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

async function aDataDir(): Promise<string> {
  const dataDir = makeDataDir();
  onTestFinished(() => removeDataDir(dataDir));
  return dataDir;
}

async function aRedis(): Promise<string> {
  const redis = await startRedis();
  onTestFinished(() => redis.stop());
  return redis.url;
}

async function aDatabase(): Promise<Api> {
  const database = await startApi();
  onTestFinished(() => database.close());
  return database;
}

/** A service of two workers, which both listen. */
async function twoWorkers(env: Record<string, string> = {}, dataDir?: string): Promise<Service> {
  const service = await startService({
    dataDir: dataDir ?? (await aDataDir()),
    env: { WORKERS: '2', REDIS_URL: await aRedis(), RATE_LIMIT: '1000000', TEAM_LIMIT: '1000000', ...env },
  });
  onTestFinished(async () => {
    service.kill('SIGTERM');
    await service.exited;
  });
  await expect.poll(() => [pidsOf(service, 1).length, pidsOf(service, 2).length], BOUND).toEqual([1, 1]);
  await expect.poll(() => linesOf(service).some(({ msg }) => msg === 'all workers listening'), BOUND).toBe(true);
  return service;
}

const ofDatabase = ({ databaseUrl }: Api) => ({ DATABASE_URL: databaseUrl, SECRET_KEYS });

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
      .poll(() => workersOf(({ requestId }) => String(requestId).startsWith('share-')), BOUND)
      .toEqual(new Set([1, 2]));
    expect(workersOf(({ msg }) => msg.includes('looking for jobs'))).toEqual(new Set([1]));
    const scraped = await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text();
    for (const worker of [1, 2])
      expect(scraped).toMatch(
        new RegExp(`^roster_http_request_duration_seconds_count\\{[^}]*worker="${worker}"[^}]*\\} [1-9]`, 'm'),
      );
    expect(scraped.match(/^roster_jobs\{[^}]*state="ready"[^}]*\}/gm)).toHaveLength(1);
  });

  test(
    'the SIGKILL of one under load loses only its own requests, and it is replaced, with its jobs',
    {
      timeout: 120_000,
    },
    async () => {
      const database = await aDatabase();
      const account = await database.anAccount();
      const key = await database.anApiKey(account, { scopes: ['teams:read', 'invites:write'] });
      const team = await database.aTeam({ owner: account });
      const dataDir = await aDataDir();
      const service = await twoWorkers(ofDatabase(database), dataDir);
      const [victim = 0] = pidsOf(service, 1);
      const [survivor = 0] = pidsOf(service, 2);

      const lost: string[] = [];
      let answered = 0;
      let isOver = false;
      // Few, so that the replacement can start beside them on two cores.
      const LANES = 4;
      const lane = async (number: number): Promise<void> => {
        const agent = new Agent({ keepAlive: true, maxSockets: 1 });
        for (let i = 0; !isOver; i += 1) {
          const id = `lane-${number}-${i}`;
          const status = await get(service, key.secret, id, agent).catch(() => undefined);
          if (status === 200) answered += 1;
          else lost.push(id);
        }
        agent.destroy();
      };
      const lanes = Promise.all(Array.from({ length: LANES }, (_, number) => lane(number)));
      await expect.poll(() => answered, BOUND).toBeGreaterThan(100);

      process.kill(victim, 'SIGKILL');

      await expect.poll(() => pidsOf(service, 1).length, BOUND).toBe(2);
      const before = answered;
      await expect.poll(() => answered, BOUND).toBeGreaterThan(before + 100);
      isOver = true;
      await lanes;
      const bySurvivor = new Set(
        linesOf(service).flatMap(({ pid, requestId }) => (pid === survivor ? [requestId] : [])),
      );
      expect(bySurvivor.size).toBeGreaterThan(0);
      expect(lost.filter((id) => bySurvivor.has(id))).toEqual([]);
      // Once as it dies, and once if the next connection was being handed to it at that moment.
      expect(lost.length).toBeLessThanOrEqual(2 * LANES);
      expect(isRunning(survivor)).toBe(true);

      const client = createClient(service.port, undefined);
      onTestFinished(() => client.close());
      const invited = await client
        .as(key)
        .post(`/api/v1/teams/${team.id}/invitations`, { email: 'new.colleague@example.com' });
      expect(invited.status).toBe(201);
      const directory = join(dataDir, 'mail');
      await expect.poll(() => existsSync(directory) && readdirSync(directory).length > 0, BOUND).toBe(true);
    },
  );

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
    await expect.poll(() => delays().length, BOUND).toBe(3);
    expect(delays()).toEqual([0, 1000, 2000]);
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

const ANSWER_MS_MAX = 5000;

/** The status of a request with its own id, over a new connection unless an agent is given. */
const get = ({ port }: Service, secret: string, requestId: string, agent: Agent | false = false): Promise<number> =>
  new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${secret}`, 'x-request-id': requestId };
    const sent = request({ host: '127.0.0.1', port, path: '/api/v1/teams', agent, headers }, (res) => {
      res
        .resume()
        .on('end', () => resolve(res.statusCode ?? 0))
        .on('error', reject);
    });
    sent
      .on('error', reject)
      .setTimeout(ANSWER_MS_MAX, () => sent.destroy(new Error('There was no answer.')))
      .end();
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
