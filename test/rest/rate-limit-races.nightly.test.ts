import { describe, expect, onTestFinished, test } from 'vitest';
import { startApi, type Api } from '../support/api.ts';
import { createClient, type Answer } from '../support/client.ts';
import { hasRedis, startRedis, type TestRedis } from '../support/redis.ts';
import { makeDataDir, removeDataDir, startService } from '../support/service.ts';
import { aKey, anApi, countOf, remaining, times } from './limited.ts';

async function aRedis(options: { port?: number } = {}): Promise<TestRedis> {
  const redis = await startRedis(options);
  onTestFinished(() => redis.stop());
  return redis;
}

describe.skipIf(!hasRedis)('replicas on one Redis', () => {
  test('two processes let exactly 300 of 320 parallel calls through together', async () => {
    const redis = await aRedis();
    const api = await anApi();
    const key = await aKey(api);
    const clients = await Promise.all([aReplica(api, redis.url), aReplica(api, redis.url)]);
    const [one, two] = clients;

    const answers = await times(320, (turn) => (turn % 2 === 0 ? one : two).as(key).get('/api/v1/credential'));

    expect([countOf(answers, 200), countOf(answers, 429)]).toEqual([300, 20]);
    for (const client of clients) expect(await client.as(key).get('/api/v1/teams')).toBeProblem('rate_limited');
  });

  test.for(['SIGKILL', 'SIGSTOP'] as const)(
    'no request fails when Redis gets a %s, and it counts again afterwards',
    async (signal) => {
      const redis = await aRedis();
      const settings = { RATE_LIMIT: '100000', REDIS_URL: redis.url };
      const limits = { redisAnswerMs: 1000 };
      const api = await startApi(settings, undefined, undefined, limits);
      onTestFinished(() => api.close());
      const other = await startApi(settings, api, undefined, limits);
      onTestFinished(() => other.close());
      const key = await aKey(api);
      const answers: Answer[] = [];
      // The limits of operators say what they count.
      const logged = (text: string) =>
        api.lines.filter(({ msg, counted }) => msg === text && counted === undefined).length;

      let isOver = false;
      const lanes = times(8, async () => {
        while (!isOver) answers.push(await api.as(key).get('/api/v1/credential'));
      });
      await expect.poll(() => answers.length, { interval: 1 }).toBeGreaterThan(50);
      redis.kill(signal);
      await expect
        .poll(() => logged('Redis is unavailable; rate limits are counted per process'), { interval: 5 })
        .toBe(1);
      const during = answers.length;
      await expect.poll(() => answers.length, { interval: 5 }).toBeGreaterThan(during + 200);
      if (signal === 'SIGSTOP') redis.kill('SIGCONT');
      else await aRedis({ port: redis.port });
      await expect.poll(() => logged('Redis is available; rate limits are shared again'), { interval: 5 }).toBe(1);
      isOver = true;
      await lanes;

      expect(countOf(answers, 200)).toBe(answers.length);
      expect(logged('Redis is unavailable; rate limits are counted per process')).toBe(1);
      const fresh = await aKey(api);
      await api.as(fresh).get('/api/v1/credential');
      await expect.poll(async () => remaining(await other.as(fresh).get('/api/v1/credential'))).toBeLessThan(99_998);
    },
  );
});

/** The service in a process of its own on the database of another instance, and a client of it. */
async function aReplica({ databaseUrl }: Api, redisUrl: string) {
  const dataDir = makeDataDir();
  onTestFinished(() => removeDataDir(dataDir));
  const service = await startService({
    dataDir,
    env: { DATABASE_URL: databaseUrl, REDIS_URL: redisUrl, SECRET_KEYS: 'test-key-test-key-test-key-test-key' },
  });
  const client = createClient(service.port, undefined);
  onTestFinished(async () => {
    client.close();
    service.kill('SIGKILL');
    await service.exited;
  });
  return client;
}
