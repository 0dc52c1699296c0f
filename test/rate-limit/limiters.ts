import { expect, onTestFinished, test, vi } from 'vitest';
import type { RedisServer } from '../../src/config/redis-url.ts';
import { createLimiter, type Limiter, type RateDecision } from '../../src/rate-limit/limiter.ts';

type Setting = { readonly redis?: RedisServer | undefined; readonly limit?: number; readonly windowSeconds?: number };

export function aLimiter({ redis, limit = 300, windowSeconds = 60 }: Setting = {}) {
  const onFallback = vi.fn<(error: unknown) => void>();
  const onRecovery = vi.fn<() => void>();
  const limiter = createLimiter({ redis, limit, windowSeconds, onFallback, onRecovery });
  onTestFinished(() => limiter.close());
  return { limiter, onFallback, onRecovery };
}

export const consumeAll = (limiter: Limiter, bucket: string, count: number): Promise<RateDecision[]> =>
  Promise.all(Array.from({ length: count }, () => limiter.consume(bucket)));

export const allowed = (decisions: RateDecision[]): number => decisions.filter((decision) => decision.allowed).length;

/** What a limiter does wherever it counts. @param open returns where */
export function testLimiter(open: () => Promise<RedisServer | undefined>): void {
  const setting = async (rest: Setting = {}): Promise<Setting> => ({ ...rest, redis: await open() });

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
}
