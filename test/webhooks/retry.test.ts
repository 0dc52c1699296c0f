import { describe, expect, test } from 'vitest';
import { ATTEMPTS_MAX, nextDelayMs, parseRetryAfter } from '../../src/webhooks/retry.ts';

const HOUR_MS = 3_600_000;
const delays = (random: number) => Array.from({ length: ATTEMPTS_MAX }, (_, i) => nextDelayMs(i + 1, 0, random));
const sum = (values: readonly (number | null)[]) => values.reduce<number>((total, value) => total + (value ?? 0), 0);

describe('a delivery', () => {
  test('is attempted ten times within about three days', () => {
    expect(delays(0.5)).toHaveLength(10);
    expect(delays(0.5).at(-1)).toBeNull();
    expect(sum(delays(0.5)) / HOUR_MS).toBeCloseTo(75.6, 0);
  });

  test('waits up to a fifth less or longer, so that receivers that come back are not overrun', () => {
    expect(nextDelayMs(4, 0, 0)).toBe(1.6 * HOUR_MS);
    expect(nextDelayMs(4, 0, 1)).toBe(2.4 * HOUR_MS);
  });

  test('waits at least as long as the receiver asks for, and is not given more attempts', () => {
    expect(nextDelayMs(1, HOUR_MS)).toBe(HOUR_MS);
    expect(nextDelayMs(9, HOUR_MS)).toBeGreaterThan(19 * HOUR_MS);
    expect(nextDelayMs(10, HOUR_MS)).toBeNull();
  });
});

test.each([
  [undefined, 0],
  ['120', 120_000],
  ['0', 0],
  ['Sun, 22 Nov 2026 01:00:30 GMT', 30_000],
  ['Sun, 22 Nov 2026 00:00:00 GMT', 0],
  ['99999999', 24 * HOUR_MS],
  ['9'.repeat(400), 0],
  ['soon', 0],
  ['-5', 0],
])('Retry-After: %s is obeyed for %d ms', (value, expected) => {
  expect(parseRetryAfter(value, new Date('2026-11-22T01:00:00Z'))).toBe(expected);
});
