import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createClient } from '../support/client.ts';
import { hasRedis, redisCli } from '../support/redis.ts';
import { startCluster, type Cluster } from './cluster.ts';
import { printTable } from './table.ts';
import { underLoad } from './under-load.ts';

// More than a worker of the load sends in a window.
const LIMIT = 600;
const WINDOW_SECONDS = 10;

describe.skipIf(!hasRedis)('while Redis', () => {
  let cluster: Cluster;

  beforeAll(async () => {
    cluster = await startCluster({ RATE_LIMIT: String(LIMIT), RATE_WINDOW_SECONDS: String(WINDOW_SECONDS) });
  });

  afterAll(() => cluster.close());

  printTable();

  test.each([
    [
      'is killed',
      'Redis SIGKILL',
      async () => {
        await cluster.redis.kill();
        return () => cluster.redis.start();
      },
    ],
    [
      'hangs',
      'Redis SIGSTOP',
      async () => {
        const resume = cluster.redis.stall();
        return () => Promise.resolve(resume());
      },
    ],
    [
      'is flushed',
      'Redis flush',
      async () => {
        redisCli(cluster.redis.port, 'flushall');
        return () => Promise.resolve();
      },
    ],
  ] as const)('%s, no request fails', async (_, name, begin) => {
    const { unavailable, broken } = await underLoad(cluster, name, {
      async inject(load) {
        const end = await begin();
        await load.goOn(300);
        await end();
      },
    });

    expect([unavailable, broken]).toEqual([[], []]);
    expect(cluster.replicas.flatMap((replica) => replica.faults())).toEqual([]);
  });

  // Guarantees that a lost count costs at most one more window, and never a request that should pass.
  test('is there, it counts for both replicas; after a flush they let at most one more window through', async () => {
    const client = createClient(cluster.balancer.port, undefined);
    const [steady, flushed] = await cluster.make(async (factories) => {
      const account = await factories.anAccount();
      return [await factories.anApiKey(account), await factories.anApiKey(account)] as const;
    });
    const passed = async (key: { secret: string }, count: number): Promise<number> => {
      const statuses: number[] = [];
      let left = count;
      const lane = async () => {
        while (left-- > 0) {
          const { status } = await client.as(key).get('/api/v1/credential');
          statuses.push(status);
        }
      };
      await Promise.all(Array.from({ length: 16 }, lane));
      expect(statuses.filter((status) => status !== 200 && status !== 429)).toEqual([]);
      return statuses.filter((status) => status === 200).length;
    };

    const counted = await passed(steady, LIMIT + 100);
    const before = await passed(flushed, LIMIT / 2);
    redisCli(cluster.redis.port, 'flushall');
    const after = await passed(flushed, 2 * LIMIT);
    client.close();

    expect(counted).toBe(LIMIT);
    expect(before).toBe(LIMIT / 2);
    expect(before + after).toBeGreaterThanOrEqual(LIMIT);
    expect(before + after).toBeLessThanOrEqual(2 * LIMIT);
  });
});
