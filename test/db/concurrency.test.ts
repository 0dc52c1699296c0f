import { afterEach, beforeEach, expect, it, vi } from 'vitest';

import type { Rows } from '../../src/db/pipeline.ts';
import { inTurns } from '../../src/db/concurrency.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const takes = (ms: number) => () => new Promise<Rows>((resolve) => setTimeout(() => resolve([]), ms));

it('lets long reads wait as long as others before them end', async () => {
  const inTurn = inTurns();
  const all = Promise.all(Array.from({ length: 20 }, () => inTurn('members', takes(3000))));

  await vi.advanceTimersByTimeAsync(20_000);

  expect(await all).toHaveLength(20);
});

it('gives up where none has ended for five seconds', async () => {
  const inTurn = inTurns();
  const stuck = Array.from({ length: 4 }, () => inTurn('members', takes(60_000)));
  const waiting = expect(inTurn('members', takes(1))).rejects.toThrow('too many long reads');

  await vi.advanceTimersByTimeAsync(5_000);

  await waiting;
  await vi.advanceTimersByTimeAsync(60_000);
  await Promise.all(stuck);
});
