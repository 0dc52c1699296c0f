import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { createSlots } from '../../src/webhooks/slots.ts';

/** Begins a request that never ends by itself. @returns its signal */
function hang(slots: ReturnType<typeof createSlots>, isFailing = false): AbortSignal {
  let seen: AbortSignal | undefined;
  const sent = slots.run(isFailing, (signal) => {
    seen = signal;
    return new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error)));
  });
  void sent.catch(() => undefined);
  if (seen === undefined) throw new Error('The request was not begun.');
  return seen;
}

function slotsWithClock(limits: { fastMax: number; slowMax: number }) {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const onFree = vi.fn<() => void>();
  return { slots: createSlots(onFree, limits), onFree };
}

describe('requests that hang', () => {
  test('give their slots to others after half a second, however many there are', async () => {
    const { slots, onFree } = slotsWithClock({ fastMax: 3, slowMax: 4 });
    for (let round = 0; round < 10; round += 1) {
      for (let i = 0; i < 3; i += 1) hang(slots);
      expect(slots.free().healthy).toBe(0);
      await vi.advanceTimersByTimeAsync(500);
      expect(slots.free().healthy).toBe(3);
    }
    expect(onFree).toHaveBeenCalled();
  });

  test('end early only if there are too many: the oldest first', async () => {
    const { slots } = slotsWithClock({ fastMax: 3, slowMax: 4 });
    const signals: AbortSignal[] = [];
    for (let i = 0; i < 6; i += 1) {
      signals.push(hang(slots));
      await vi.advanceTimersByTimeAsync(500);
    }
    expect(signals.map(({ aborted }) => aborted)).toEqual([true, true, false, false, false, false]);
  });

  test('of endpoints that fail never hold a slot of healthy ones, and at most half of the others', () => {
    const { slots } = slotsWithClock({ fastMax: 3, slowMax: 4 });
    hang(slots, true);
    hang(slots, true);
    expect(slots.free()).toEqual({ healthy: 3, failing: 0 });
  });
});

test('a request that ends gives its slot back once', async () => {
  const { slots, onFree } = slotsWithClock({ fastMax: 3, slowMax: 4 });
  expect(await slots.run(false, () => Promise.resolve('answer'))).toBe('answer');
  await expect(slots.run(true, () => Promise.reject(new Error('refused')))).rejects.toThrow('refused');
  await vi.advanceTimersByTimeAsync(1000);
  expect(slots.free()).toEqual({ healthy: 3, failing: 2 });
  expect(onFree).toHaveBeenCalledTimes(2);
});
