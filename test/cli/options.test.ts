import { describe, expect, test } from 'vitest';
import { days, email, instant, instantOrNever, listOf } from '../../src/cli/options.ts';

describe('instant', () => {
  test.each([
    ['2030-01-31T12:00:00Z', '2030-01-31T12:00:00.000Z'],
    ['2030-01-31T12:00Z', '2030-01-31T12:00:00.000Z'],
    ['2030-01-31T12:00:00.5+01:00', '2030-01-31T11:00:00.500Z'],
    ['2028-02-29T23:59:59-12:00', '2028-03-01T11:59:59.000Z'],
  ])('takes %s', (raw, at) => {
    expect(instant(raw).toISOString()).toBe(at);
  });

  test.each([
    '2030-01-31',
    '2030-01-31T12:00:00',
    '2030-02-30T12:00:00Z',
    '2030-13-01T12:00:00Z',
    '2030-01-31T25:00:00Z',
    '2030-01-31T12:00:00+99:00',
    '0000-01-01T00:00:00Z',
    '9999-12-31T23:00:00-12:00',
    '1893456000',
    'tomorrow',
    '',
  ])('refuses %j', (raw) => {
    expect(() => instant(raw)).toThrow(/instant with a time zone/);
  });

  test('never is never', () => {
    expect(instantOrNever('never')).toBe('never');
  });
});

test.each(['0', '-1', '366', '1.5', '1e2', 'ten', ''])('%j is no number of days', (raw) => {
  expect(() => days(365)(raw)).toThrow(/whole number from 1 to 365/);
});

test.each(['a', 'a@', 'a@b', 'a b@example.com', `${'a'.repeat(250)}@example.com`, ''])('%j is no address', (raw) => {
  expect(() => email(raw)).toThrow(/must be an email address/);
});

test('a list takes blanks around its words, and no word it does not know', () => {
  const fruit = listOf('fruit', ['apple', 'pear']);

  expect(fruit(' pear , apple,')).toEqual(['pear', 'apple']);
  expect(() => fruit('apple,plum')).toThrow('There is no fruit plum; the fruits are apple, pear.');
});
