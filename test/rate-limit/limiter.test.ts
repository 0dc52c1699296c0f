import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { addressBucket } from '../../src/rate-limit/address-bucket.ts';
import { createLimiter } from '../../src/rate-limit/limiter.ts';
import { Windows } from '../../src/rate-limit/memory-windows.ts';
import type { Limiter, RateDecision } from '../../src/rate-limit/limiter.ts';
import { hasRedis, redisCli, startRedis } from '../support/redis.ts';
import type { TestRedis } from '../support/redis.ts';

type Setting = { redisUrl?: string; limit?: number; windowSeconds?: number };

function aLimiter({ redisUrl, limit = 300, windowSeconds = 60 }: Setting = {}) {
  const onFallback = vi.fn<(error: unknown) => void>();
  const onRecovery = vi.fn<() => void>();
  const limiter = createLimiter({ redisUrl, limit, windowSeconds, onFallback, onRecovery });
  onTestFinished(() => limiter.close());
  return { limiter, onFallback, onRecovery };
}

async function aRedis(options: { port?: number } = {}): Promise<TestRedis> {
  const redis = await startRedis(options);
  onTestFinished(() => redis.stop());
  return redis;
}

const consumeAll = (limiter: Limiter, bucket: string, count: number): Promise<RateDecision[]> =>
  Promise.all(Array.from({ length: count }, () => limiter.consume(bucket)));

const allowed = (decisions: RateDecision[]): number => decisions.filter((decision) => decision.allowed).length;

async function waitOf(work: Promise<unknown>): Promise<number> {
  const startedAt = performance.now();
  await work;
  return performance.now() - startedAt;
}

const backends = hasRedis ? (['memory', 'Redis'] as const) : (['memory'] as const);

describe.each(backends)('a limiter in %s', (backend) => {
  const setting = async (rest: Setting = {}): Promise<Setting> =>
    backend === 'memory' ? rest : { ...rest, redisUrl: (await aRedis()).url };

  test('lets exactly the limit through, of parallel requests too', async () => {
    const { limiter, onFallback } = aLimiter(await setting());

    const decisions = await consumeAll(limiter, 'a', 320);

    expect(allowed(decisions)).toBe(300);
    expect(decisions.slice(0, 300).map((decision) => decision.remaining)).toEqual(
      Array.from({ length: 300 }, (_, index) => 299 - index),
    );
    // The window can be older than a second by then.
    const { resetSeconds, ...last } = decisions[319] ?? { resetSeconds: 0 };
    expect(last).toEqual({ allowed: false, limit: 300, remaining: 0 });
    expect(resetSeconds).toBeGreaterThan(0);
    expect(resetSeconds).toBeLessThanOrEqual(60);
    expect(onFallback).not.toHaveBeenCalled();
  });

  test('keeps buckets apart', async () => {
    const { limiter } = aLimiter(await setting({ limit: 1 }));

    expect(await limiter.consume('a')).toMatchObject({ allowed: true });
    expect(await limiter.consume('b')).toMatchObject({ allowed: true });
    expect(await limiter.consume('a')).toMatchObject({ allowed: false });
  });

  test('counts no part of a batch that does not fit', async () => {
    const { limiter } = aLimiter(await setting());

    expect(await limiter.consume('a', 295)).toMatchObject({ allowed: true, remaining: 5 });
    expect(await limiter.consume('a', 6)).toMatchObject({ allowed: false, remaining: 5 });
    expect(await limiter.consume('a', 5)).toMatchObject({ allowed: true, remaining: 0 });
    expect(await limiter.consume('a')).toMatchObject({ allowed: false, remaining: 0 });
  });

  test('gives back one request for each refund, and none that was not counted', async () => {
    const { limiter } = aLimiter(await setting({ limit: 3 }));

    await limiter.refund('a');
    await consumeAll(limiter, 'a', 3);
    await limiter.refund('a');

    expect(await limiter.consume('a')).toMatchObject({ allowed: true, remaining: 0 });
    expect(await limiter.consume('a')).toMatchObject({ allowed: false });
  });

  test('denies a batch greater than the limit without opening a window', async () => {
    const { limiter } = aLimiter(await setting());

    expect(await limiter.consume('a', 301)).toEqual({ allowed: false, limit: 300, remaining: 300, resetSeconds: 60 });
    expect(await limiter.peek('a')).toMatchObject({ allowed: true, remaining: 300 });
  });

  test('lets no more than the limit through in parallel batches', async () => {
    const { limiter } = aLimiter(await setting());

    const decisions = await Promise.all(Array.from({ length: 60 }, () => limiter.consume('a', 7)));

    expect(allowed(decisions)).toBe(42);
    expect(await limiter.peek('a')).toMatchObject({ allowed: true, remaining: 6 });
  });

  test('shows a bucket without counting', async () => {
    const { limiter } = aLimiter(await setting({ limit: 2 }));

    expect(await limiter.peek('a')).toEqual({ allowed: true, limit: 2, remaining: 2, resetSeconds: 60 });
    expect(await limiter.peek('a')).toMatchObject({ remaining: 2 });
    await consumeAll(limiter, 'a', 2);
    expect(await limiter.peek('a')).toMatchObject({ allowed: false, remaining: 0 });
  });

  test('opens the next window when the first has ended', async () => {
    const { limiter } = aLimiter(await setting({ limit: 2, windowSeconds: 1 }));
    await limiter.peek('a');
    const openedAt = performance.now();
    await consumeAll(limiter, 'a', 2);

    expect(await limiter.consume('a')).toEqual({ allowed: false, limit: 2, remaining: 0, resetSeconds: 1 });
    await expect.poll(() => limiter.consume('a'), { interval: 10 }).toMatchObject({ allowed: true });

    expect(performance.now() - openedAt).toBeGreaterThan(995);
    expect(await limiter.peek('a')).toMatchObject({ allowed: true, remaining: 1 });
  });
});

describe('Windows', () => {
  // Guarantees that memory is bounded by the buckets of two windows' length, whatever the flood.
  test('drops expired buckets', () => {
    const windows = new Windows(1000);

    for (let now = 0; now < 10_000; now += 1) windows.open(`bucket ${now}`, now, now + 1000);

    expect(windows.size).toBeLessThanOrEqual(2000);
    expect(windows.find('bucket 9500', 9999)).toEqual({ used: 0, endsAt: 10_500 });
    expect(windows.find('bucket 8999', 9999)).toBeUndefined();
  });
});

describe('addressBucket', () => {
  test.each([
    ['192.0.2.7', 'ip:192.0.2.7'],
    ['::ffff:192.0.2.7', 'ip:192.0.2.7'],
    ['::FFFF:c000:0207', 'ip:192.0.2.7'],
    ['2001:db8:1:2:3:4:5:6', 'ip:2001:db8:1:2::/64'],
    ['2001:0DB8:0001:0002::9', 'ip:2001:db8:1:2::/64'],
    ['2001:db8::2:0:0:0:9', 'ip:2001:db8:0:2::/64'],
    ['2001:db8::', 'ip:2001:db8:0:0::/64'],
    ['::1', 'ip:0:0:0:0::/64'],
    ['fe80::1%eth0', 'ip:fe80:0:0:0::/64'],
    ['64:ff9b::192.0.2.7', 'ip:64:ff9b:0:0::/64'],
    ['', 'ip:unknown'],
    ['no address', 'ip:unknown'],
  ])('%j is %s', (address, bucket) => {
    expect(addressBucket(address)).toBe(bucket);
  });
});

describe.skipIf(!hasRedis)('limiters that share a Redis', () => {
  test('let exactly the limit through together, from two processes', async () => {
    const redis = await aRedis();

    const counts = await inProcesses(2, redis.url, 160);

    expect(counts[0]! + counts[1]!).toBe(300);
  });

  test('see what the other has counted', async () => {
    const { url: redisUrl } = await aRedis();
    const { limiter: one } = aLimiter({ redisUrl });
    const { limiter: other } = aLimiter({ redisUrl });

    await one.consume('a', 100);

    expect(await other.consume('a', 200)).toMatchObject({ allowed: true, remaining: 0 });
    expect(await one.consume('a')).toMatchObject({ allowed: false });
  });
});

describe.skipIf(!hasRedis)('a limiter whose Redis fails', () => {
  test('starts without it, and uses it once it is there', async () => {
    const redis = await aRedis();
    await redis.stop();
    const { limiter, onFallback, onRecovery } = aLimiter({ redisUrl: redis.url });

    expect(await waitOf(limiter.consume('a'))).toBeLessThan(1500);
    expect(allowed(await consumeAll(limiter, 'a', 319))).toBe(299);
    expect(onFallback).toHaveBeenCalledTimes(1);

    await aRedis({ port: redis.port });
    await expect.poll(() => onRecovery.mock.calls.length).toBe(1);

    await limiter.consume('b', 3);
    const { limiter: other } = aLimiter({ redisUrl: redis.url });
    expect(await other.peek('b')).toMatchObject({ remaining: 297 });
  });

  test('goes on when it is killed, and lets no more through than the limit', async () => {
    const printed = [vi.spyOn(console, 'error'), vi.spyOn(console, 'warn')];
    onTestFinished(() => void vi.restoreAllMocks());
    const redis = await aRedis();
    const { limiter, onFallback, onRecovery } = aLimiter({ redisUrl: redis.url });
    await limiter.peek('a');

    const waits: number[] = [];
    const decisions: RateDecision[] = [];
    const caller = async (): Promise<void> => {
      while (decisions.length < 320)
        waits.push(await waitOf(limiter.consume('a').then((made) => decisions.push(made))));
    };
    const run = Promise.all(Array.from({ length: 8 }, caller));
    await vi.waitUntil(() => decisions.length >= 100, { interval: 0, timeout: 10_000 });
    redis.kill('SIGKILL');
    await run;
    await expect.poll(() => onFallback.mock.calls.length).toBe(1);
    decisions.push(...(await consumeAll(limiter, 'a', 320)));

    expect(allowed(decisions)).toBe(300);
    expect(Math.max(...waits)).toBeLessThan(1500);
    expect(onFallback).toHaveBeenCalledTimes(1);
    expect(onRecovery).not.toHaveBeenCalled();
    for (const spy of printed) expect(spy).not.toHaveBeenCalled();
  });

  test('continues the window it knows, also when Redis comes back empty', async () => {
    const redis = await aRedis();
    const { limiter, onFallback, onRecovery } = aLimiter({ redisUrl: redis.url });

    await limiter.consume('a', 200);
    await redis.stop();
    await expect.poll(() => onFallback.mock.calls.length).toBe(1);
    expect(await limiter.consume('a', 50)).toMatchObject({ allowed: true, remaining: 50 });

    await aRedis({ port: redis.port });
    await expect.poll(() => onRecovery.mock.calls.length).toBe(1);
    expect(allowed(await consumeAll(limiter, 'a', 320))).toBe(50);
  });

  test('makes hardly any request wait while it hangs, and uses it again when it answers', async () => {
    const redis = await aRedis();
    const { limiter, onFallback, onRecovery } = aLimiter({ redisUrl: redis.url });
    await limiter.peek('a');
    redis.kill('SIGSTOP');

    const waits: number[] = [];
    const endsAt = performance.now() + 1500;
    const caller = async (): Promise<void> => {
      while (performance.now() < endsAt) {
        waits.push(await waitOf(limiter.consume(randomUUID())));
        await new Promise((resolve) => setTimeout(resolve, 5));
      }
    };
    await Promise.all(Array.from({ length: 8 }, caller));

    expect(Math.max(...waits)).toBeLessThan(1500);
    expect(waits.filter((wait) => wait > 20).length).toBeLessThan(waits.length / 5);
    expect(onFallback).toHaveBeenCalledTimes(1);
    expect(onRecovery).not.toHaveBeenCalled();

    redis.kill('SIGCONT');
    await expect.poll(() => onRecovery.mock.calls.length).toBe(1);
    await limiter.consume('b', 3);
    const { limiter: other } = aLimiter({ redisUrl: redis.url });
    expect(await other.peek('b')).toMatchObject({ remaining: 297 });
    expect(onFallback).toHaveBeenCalledTimes(1);
  });

  // Guarantees that an outage is over when Redis counts again, not already when it answers.
  test('does not take a Redis that rejects writes for recovered', async () => {
    const redis = await aRedis();
    const { limiter, onFallback, onRecovery } = aLimiter({ redisUrl: redis.url });
    await limiter.consume('a');

    redisCli(redis.port, 'REPLICAOF', '127.0.0.1', '1');
    await limiter.consume('a');
    await expect.poll(() => refusedWrites(redis)).toBeGreaterThanOrEqual(3);
    expect(onFallback).toHaveBeenCalledTimes(1);
    expect(onRecovery).not.toHaveBeenCalled();
    expect(await limiter.consume('a')).toMatchObject({ allowed: true, remaining: 297 });

    redisCli(redis.port, 'REPLICAOF', 'NO', 'ONE');
    await expect.poll(() => onRecovery.mock.calls.length).toBe(1);
    expect(onFallback).toHaveBeenCalledTimes(1);
  });
});

const refusedWrites = ({ port }: TestRedis): number =>
  Number(/errorstat_READONLY:count=(\d+)/.exec(redisCli(port, 'INFO', 'errorstats'))?.[1] ?? 0);

/** How many of its parallel charges each process was allowed. All begin together. */
async function inProcesses(processes: number, redisUrl: string, count: number): Promise<number[]> {
  const module = new URL('../../src/rate-limit/limiter.ts', import.meta.url).href;
  const script = `
    import { once } from 'node:events';
    import { createLimiter } from ${JSON.stringify(module)};
    const fail = (error) => { throw error; };
    const limiter = createLimiter({ redisUrl: ${JSON.stringify(redisUrl)}, limit: 300, windowSeconds: 60, onFallback: fail, onRecovery: fail });
    await limiter.peek('a');
    console.log('ready');
    await once(process.stdin, 'data');
    const decisions = await Promise.all(Array.from({ length: ${count} }, () => limiter.consume('a')));
    console.log(decisions.filter((decision) => decision.allowed).length);
    await limiter.close();
    process.stdin.destroy();
  `;
  const children = Array.from({ length: processes }, () => {
    const child = spawn(process.execPath, ['--input-type=module', '--eval', script], {
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    onTestFinished(() => void child.kill());
    return child;
  });

  await Promise.all(children.map((child) => once(child.stdout, 'data')));
  const answers = children.map(async (child): Promise<number> => Number((await once(child.stdout, 'data'))[0]));
  for (const child of children) child.stdin.write('go\n');
  return Promise.all(answers);
}
