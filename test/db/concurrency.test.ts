import { afterEach, beforeEach, expect, it, vi } from 'vitest';

import type { Rows } from '../../src/db/pipeline.ts';
import { limitLargeQueries } from '../../src/db/concurrency.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const takes = (ms: number) => () => new Promise<Rows>((resolve) => setTimeout(() => resolve([]), ms));

it('lets large queries wait as long as others before them end', async () => {
  const limited = limitLargeQueries();
  const all = Promise.all(Array.from({ length: 20 }, () => limited('members', takes(3000))));

  await vi.advanceTimersByTimeAsync(20_000);

  expect(await all).toHaveLength(20);
});

it('gives up where none has ended for five seconds', async () => {
  const limited = limitLargeQueries();
  const stuck = Array.from({ length: 4 }, () => limited('members', takes(60_000)));
  const waiting = expect(limited('members', takes(1))).rejects.toThrow('Timed out waiting to run a large query.');

  await vi.advanceTimersByTimeAsync(5_000);

  await waiting;
  await vi.advanceTimersByTimeAsync(60_000);
  await Promise.all(stuck);
});

it('runs a query that was huge before one at a time, and the others beside it', async () => {
  const limited = limitLargeQueries();
  let [running, most] = [0, 0];
  const huge = async (): Promise<Rows> => {
    most = Math.max(most, (running += 1));
    await new Promise((resolve) => setTimeout(resolve, 100));
    running -= 1;
    return Array.from({ length: 1000 }, () => ({}));
  };
  const first = limited('members of a huge team', huge);
  await vi.advanceTimersByTimeAsync(100);
  await first;

  const all = Promise.all(Array.from({ length: 4 }, () => limited('members of a huge team', huge)));
  const small = limited('members of another', takes(50));
  await vi.advanceTimersByTimeAsync(60);
  expect(await small).toEqual([]);
  await vi.advanceTimersByTimeAsync(1000);

  expect(await all).toHaveLength(4);
  expect(most).toBe(1);
});
