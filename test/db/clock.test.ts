import { expect, onTestFinished, vi } from 'vitest';
import { readSkewMs } from '../../src/db/clock.ts';
import { watchClock } from '../../src/service/clock.ts';
import { HOUR_MS } from '../../src/time.ts';
import { test } from '../support/api.ts';

test('clocks that differ by more than five seconds are logged, at the start and every hour', async ({ api }) => {
  const { db } = api.services;
  expect(Math.abs(await readSkewMs(db))).toBeLessThan(60_000);
  const realNow = Date.now.bind(Date);
  let aheadMs = 3 * HOUR_MS;
  vi.spyOn(Date, 'now').mockImplementation(() => realNow() + aheadMs);
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  onTestFinished(() => void vi.useRealTimers());
  const warn = vi.fn<(fields: object, message: string) => void>();
  const asked = vi.spyOn(db, 'query');
  const isWarned = async (times: number) => {
    await expect.poll(() => warn.mock.calls.length).toBe(times);
  };

  const end = watchClock(db, { warn });
  await isWarned(1);
  const [[fields, message] = []] = warn.mock.calls;
  expect(message).toContain('the clocks of this machine and the database differ');
  expect((fields as { skewMs: number }).skewMs).toBeLessThan(-2 * HOUR_MS);
  vi.advanceTimersByTime(HOUR_MS);
  await isWarned(2);

  aheadMs = 0;
  vi.advanceTimersByTime(HOUR_MS);
  await expect.poll(() => asked.mock.settledResults.length).toBe(3);
  expect(warn).toHaveBeenCalledTimes(2);

  end();
  vi.advanceTimersByTime(2 * HOUR_MS);
  expect(asked).toHaveBeenCalledTimes(3);
});
