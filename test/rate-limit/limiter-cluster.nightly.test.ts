import { describe, expect, onTestFinished, test } from 'vitest';
import { redisServer } from '../../src/config/redis-url.ts';
import { createLimiter } from '../../src/rate-limit/limiter.ts';
import type { Limiter } from '../../src/rate-limit/limiter.ts';
import { hasRedis, redisCli, startRedis } from '../support/redis.ts';
import type { TestRedis } from '../support/redis.ts';

async function aCluster(): Promise<TestRedis[]> {
  const args = ['--cluster-enabled', 'yes', '--cluster-node-timeout', '1000'];
  const nodes = await Promise.all([1, 2, 3].map(() => startRedis({ args })));
  onTestFinished(async () => void (await Promise.all(nodes.map((node) => node.stop()))));

  const [first] = nodes.map((node) => node.port);
  const addresses = nodes.map((node) => `127.0.0.1:${node.port}`);
  redisCli(first!, '--cluster', 'create', ...addresses, '--cluster-yes');
  for (const { port } of nodes) {
    await expect.poll(() => redisCli(port, 'CLUSTER', 'INFO')).toContain('cluster_state:ok');
  }
  return nodes;
}

function aLimiter(redisUrl: string, outages: string[]): Limiter {
  const limiter = createLimiter({
    redis: redisServer(redisUrl),
    limit: 300,
    windowSeconds: 60,
    onFallback: (error) => outages.push(`fallback: ${String(error)}`),
    onRecovery: () => outages.push('recovery'),
  });
  onTestFinished(() => limiter.close());
  return limiter;
}

describe.skipIf(!hasRedis)('limiters that share a Redis Cluster of three nodes', () => {
  test('let exactly the limit through together, in every bucket, and survive the loss of a node', async () => {
    const nodes = await aCluster();
    const outages: string[] = [];
    const redisUrl = nodes.map((node) => node.url).join(',');
    const limiters = [aLimiter(redisUrl, outages), aLimiter(redisUrl, [])] as const;
    // A limiter connects to a node when it first needs it. Until then it may count in memory.
    for (const bucket of ['one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine']) {
      const seen = async (): Promise<number> => {
        await limiters[0].consume(bucket);
        return (await limiters[1].peek(bucket)).remaining;
      };
      await expect.poll(seen).toBeLessThan(300);
    }
    outages.length = 0;

    for (const bucket of ['a', 'b', 'c', 'd', 'e', 'f']) {
      const decisions = await Promise.all(
        Array.from({ length: 320 }, (_, index) => limiters[index % 2 === 0 ? 0 : 1].consume(bucket)),
      );
      expect(decisions.filter((decision) => decision.allowed).length).toBe(300);
    }
    expect(nodes.map((node) => redisCli(node.port, 'DBSIZE').trim())).not.toContain('0');
    expect(outages).toEqual([]);

    nodes[1]!.kill('SIGKILL');
    const decisions = await Promise.all(
      Array.from({ length: 90 }, (_, index) => limiters[0].consume(`after ${index}`)),
    );
    expect(decisions.every((decision) => decision.allowed)).toBe(true);
    expect(outages).toHaveLength(1);
  });
});
