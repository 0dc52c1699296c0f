import { expect, test } from 'vitest';
import { iso } from '../../src/db/query.ts';

test.each([
  ['2026-01-02 03:04:05+00', '2026-01-02T03:04:05.000Z'],
  ['2026-01-02 03:04:05.6+00', '2026-01-02T03:04:05.600Z'],
  ['2026-01-02 03:04:05.678+00', '2026-01-02T03:04:05.678Z'],
  ['2026-01-02 03:04:05.678999+00', '2026-01-02T03:04:05.678Z'],
  ['0099-12-31 23:59:59.01+00', '0099-12-31T23:59:59.010Z'],
  ['2026-01-02 03:04:05.5+02', '2026-01-02T01:04:05.500Z'],
  ['2026-01-02T03:04:05.5Z', '2026-01-02T03:04:05.500Z'],
])('%s is %s', (timestamp, expected) => {
  expect(iso(timestamp)).toBe(expected);
});

test('a text that is no timestamp is an error', () => {
  expect(() => iso('infinity')).toThrow(RangeError);
});
