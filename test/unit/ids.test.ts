import { expect, onTestFinished, test, vi } from 'vitest';
import { firstIdAt, newId } from '../../src/entities/base.ts';

const NOON = Date.UTC(2026, 10, 28, 12);

test('ids sort by creation, also while the clock is set back a little, and follow a clock that is set back by more', () => {
  vi.useFakeTimers({ toFake: ['Date'], now: NOON + 3_600_000 });
  onTestFinished(() => void vi.useRealTimers());
  const ids: string[] = [];
  const make = (count: number) => {
    for (let i = 0; i < count; i += 1) ids.push(newId('evt'));
  };

  make(5000);
  vi.setSystemTime(NOON + 3_600_000 - 900);
  make(5000);
  expect(ids).toEqual(ids.toSorted());
  expect(new Set(ids).size).toBe(ids.length);

  vi.setSystemTime(NOON);
  const id = newId('evt');
  expect(id >= firstIdAt('evt', new Date(NOON))).toBe(true);
  expect(id < firstIdAt('evt', new Date(NOON + 1))).toBe(true);
});
