import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { OpenTransaction } from '../../src/db/pipeline/open-transaction.ts';
import { workInSteps } from '../../src/jobs/steps.ts';
import type { TransactionScope } from '../../src/transactions/steps.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** Runs the steps, and asks no database. */
const DATABASE: TransactionScope = {
  transact: (step) =>
    step({
      run: (steps: readonly unknown[]) => Promise.resolve(steps.map(() => [])),
      later: () => undefined,
    } as unknown as OpenTransaction),
};

/** Work of so many steps, each of which takes so long. */
function work(steps: number, stepMs: number, abortSignal = new AbortController().signal) {
  const startedAt: number[] = [];
  const lasts: boolean[] = [];
  const done = workInSteps({ abortSignal }, DATABASE, async (_tx, isLast) => {
    startedAt.push(performance.now());
    lasts.push(isLast);
    await new Promise((resolve) => setTimeout(resolve, stepMs));
    return startedAt.length === steps;
  });
  return { startedAt, lasts, done };
}

test('long work leaves others at least as much time between two steps as a step takes', async () => {
  const { startedAt, done } = work(4, 80);

  await vi.runAllTimersAsync();

  expect(await done).toBe(true);
  expect(startedAt.map((at) => Math.round(at - (startedAt[0] ?? 0)))).toEqual([0, 160, 320, 480]);
});

// Guarantees that the deletions of many clients at once leave others as much as one does.
test('two works at a time rest twice as long', async () => {
  const [first, second] = [work(3, 80), work(3, 80)];

  await vi.runAllTimersAsync();

  expect([await first.done, await second.done]).toEqual([true, true]);
  const times = first.startedAt.map((at) => Math.round(at - (first.startedAt[0] ?? 0)));
  expect(times).toEqual([0, 240, 480]);
});

test('a step that waited long for a lock is not followed by as long a rest', async () => {
  const { startedAt, done } = work(2, 60_000);

  await vi.runAllTimersAsync();

  expect(await done).toBe(true);
  expect(Math.round((startedAt[1] ?? 0) - (startedAt[0] ?? 0))).toBe(61_000);
});

test('a job ends after ten steps, or with the present one when the service stops, and says that work is left', async () => {
  const long = work(100, 5);
  await vi.runAllTimersAsync();
  expect(await long.done).toBe(false);
  expect(long.lasts).toEqual([...Array.from({ length: 9 }, () => false), true]);

  const stopping = new AbortController();
  const stopped = work(100, 5, stopping.signal);
  stopping.abort();
  await vi.runAllTimersAsync();
  expect(await stopped.done).toBe(false);
  expect(stopped.lasts).toEqual([false, true]);
});
