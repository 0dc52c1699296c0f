import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import type { RedisServer } from '../../src/config/redis-url.ts';
import type { RateDecision } from '../../src/rate-limit/limiter.ts';
import { PATIENCE_MS } from '../support/patience.ts';
import { redisCli, startRedis, type TestRedis } from '../support/redis.ts';
import { aLimiter, allowed, consumeAll, testLimiter } from './limiters.ts';

type Redis = TestRedis & { readonly server: RedisServer };

async function aRedis(options: { port?: number } = {}): Promise<Redis> {
  const redis = await startRedis(options);
  onTestFinished(() => redis.stop());
  return { ...redis, server: { url: redis.url, answerMs: PATIENCE_MS } };
}

describe('a limiter in Redis', () => {
  testLimiter(async () => (await aRedis()).server);

  test('opens the next window when the first has ended', async () => {
    const { limiter } = aLimiter({ redis: (await aRedis()).server, limit: 2, windowSeconds: 1 });
    await limiter.peek('a');
    const openedAt = performance.now();
    await consumeAll(limiter, 'a', 2);

    await expect.poll(() => limiter.consume('a'), { interval: 10 }).toMatchObject({ allowed: true });

    expect(performance.now() - openedAt).toBeGreaterThan(995);
    expect(await limiter.peek('a')).toMatchObject({ allowed: true, remaining: 1 });
  });
});

describe('limiters that share a Redis', () => {
  test('let exactly the limit through together, from two processes', async () => {
    const redis = await aRedis();

    const counts = await inProcesses(2, redis.server, 160);

    expect(counts[0]! + counts[1]!).toBe(300);
  });

  test('see what the other has counted', async () => {
    const { server } = await aRedis();
    const { limiter: one } = aLimiter({ redis: server });
    const { limiter: other } = aLimiter({ redis: server });

    await one.consume('a', 100);

    expect(await other.consume('a', 200)).toMatchObject({ allowed: true, remaining: 0 });
    expect(await one.consume('a')).toMatchObject({ allowed: false });
  });
});

describe('a limiter whose Redis fails', () => {
  test('starts without it, and uses it once it is there', async () => {
    const redis = await aRedis();
    await redis.stop();
    const { limiter, onFallback, onRecovery } = aLimiter({ redis: redis.server });

    expect(await limiter.consume('a')).toMatchObject({ allowed: true });
    expect(allowed(await consumeAll(limiter, 'a', 319))).toBe(299);
    expect(onFallback).toHaveBeenCalledTimes(1);

    await aRedis({ port: redis.port });
    await expect.poll(() => onRecovery.mock.calls.length).toBe(1);

    await limiter.consume('b', 3);
    const { limiter: other } = aLimiter({ redis: redis.server });
    expect(await other.peek('b')).toMatchObject({ remaining: 297 });
  });

  test('goes on when it is killed, and lets no more through than the limit', async () => {
    const printed = [vi.spyOn(console, 'error'), vi.spyOn(console, 'warn')];
    onTestFinished(() => void vi.restoreAllMocks());
    const redis = await aRedis();
    const { limiter, onFallback, onRecovery } = aLimiter({ redis: redis.server });
    await limiter.peek('a');

    const decisions: RateDecision[] = [];
    const caller = async (): Promise<void> => {
      while (decisions.length < 320) decisions.push(await limiter.consume('a'));
    };
    const run = Promise.all(Array.from({ length: 8 }, caller));
    await vi.waitUntil(() => decisions.length >= 100, { interval: 0, timeout: PATIENCE_MS });
    redis.kill('SIGKILL');
    await run;
    await expect.poll(() => onFallback.mock.calls.length).toBe(1);
    decisions.push(...(await consumeAll(limiter, 'a', 320)));

    expect(allowed(decisions)).toBe(300);
    expect(onFallback).toHaveBeenCalledTimes(1);
    expect(onRecovery).not.toHaveBeenCalled();
    for (const spy of printed) expect(spy).not.toHaveBeenCalled();
  });

  test('continues the window it knows, also when Redis comes back empty', async () => {
    const redis = await aRedis();
    const { limiter, onFallback, onRecovery } = aLimiter({ redis: redis.server });

    await limiter.consume('a', 200);
    await redis.stop();
    await expect.poll(() => onFallback.mock.calls.length).toBe(1);
    expect(await limiter.consume('a', 50)).toMatchObject({ allowed: true, remaining: 50 });

    await aRedis({ port: redis.port });
    await expect.poll(() => onRecovery.mock.calls.length).toBe(1);
    expect(allowed(await consumeAll(limiter, 'a', 320))).toBe(50);
  });

  test('makes no request wait while it hangs but the first, and uses it again when it answers', async () => {
    const redis = await aRedis();
    const { limiter, onFallback, onRecovery } = aLimiter({ redis: { url: redis.url, answerMs: 100 } });
    await limiter.peek('a');
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval'] });
    onTestFinished(() => void vi.useRealTimers());
    redis.kill('SIGSTOP');

    const first = limiter.consume('a');
    await vi.advanceTimersByTimeAsync(100);
    expect(await first).toMatchObject({ allowed: true, remaining: 299 });
    expect(onFallback).toHaveBeenCalledTimes(1);
    // The clock stands still: what waited for Redis would never be answered.
    expect(allowed(await consumeAll(limiter, 'a', 319))).toBe(299);
    expect(onRecovery).not.toHaveBeenCalled();

    redis.kill('SIGCONT');
    while (onRecovery.mock.calls.length === 0) {
      await vi.advanceTimersByTimeAsync(100);
      await new Promise((resolve) => setImmediate(resolve));
    }
    await limiter.consume('b', 3);
    const { limiter: other } = aLimiter({ redis: { url: redis.url, answerMs: 100 } });
    expect(await other.peek('b')).toMatchObject({ remaining: 297 });
    expect(onFallback).toHaveBeenCalledTimes(1);
  });

  // Guarantees that an outage is over when Redis counts again, not already when it answers.
  test('does not take a Redis that rejects writes for recovered', async () => {
    const redis = await aRedis();
    const { limiter, onFallback, onRecovery } = aLimiter({ redis: redis.server });
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
async function inProcesses(processes: number, server: RedisServer, count: number): Promise<number[]> {
  const module = new URL('../../src/rate-limit/limiter.ts', import.meta.url).href;
  const script = `
    import { once } from 'node:events';
    import { createLimiter } from ${JSON.stringify(module)};
    const fail = (error) => { throw error; };
    const limiter = createLimiter({ redis: ${JSON.stringify(server)}, limit: 300, windowSeconds: 60, onFallback: fail, onRecovery: fail });
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
