import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { addressBucket } from '../../src/rate-limit/address-bucket.ts';
import { Windows } from '../../src/rate-limit/memory-windows.ts';
import { aLimiter, consumeAll, testLimiter } from './limiters.ts';

describe('a limiter in memory', () => {
  testLimiter(() => Promise.resolve(undefined));

  test('opens the next window when the first has ended', async () => {
    vi.useFakeTimers({ toFake: ['performance'] });
    onTestFinished(() => void vi.useRealTimers());
    const { limiter } = aLimiter({ limit: 2, windowSeconds: 10 });
    await consumeAll(limiter, 'a', 2);

    vi.advanceTimersByTime(9999);
    expect(await limiter.consume('a')).toEqual({ allowed: false, limit: 2, remaining: 0, resetSeconds: 1 });
    vi.advanceTimersByTime(1);

    expect(await limiter.consume('a')).toEqual({ allowed: true, limit: 2, remaining: 1, resetSeconds: 10 });
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
