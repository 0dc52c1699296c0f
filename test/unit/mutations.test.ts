import { existsSync, globSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { KNOWN_SURVIVORS, MUTATIONS } from '../mutation/mutations.ts';
import { report, type Result } from '../mutation/report.ts';
import type { Outcome } from '../mutation/run-suites.ts';

const TEST_FILES = globSync('test/**/*.test.{ts,tsx}');

test('each mutation replaces a text that occurs exactly once in its file', () => {
  const stale = MUTATIONS.flatMap(({ file, name, find }) => {
    const count = existsSync(file) ? readFileSync(file, 'utf8').split(find).length - 1 : 0;
    return count === 1 ? [] : [`${file}: ${name}: occurs ${count} times`];
  });

  expect(stale).toEqual([]);
});

test('each mutation names test files that exist', () => {
  const missing = MUTATIONS.flatMap(({ file, name, tests }) =>
    tests
      .filter((path) => !TEST_FILES.some((existing) => existing.includes(path)))
      .map((path) => `${file}: ${name}: ${path}`),
  );

  expect(missing).toEqual([]);
});

test('each known survivor is a mutation', () => {
  const names = new Set(MUTATIONS.map(({ name }) => name));

  expect(Object.keys(KNOWN_SURVIVORS).filter((name) => !names.has(name))).toEqual([]);
});

const result = (folder: string, i: number, kind: 'failed' | 'passed' | 'error'): Result => ({
  mutation: { file: `src/${folder}/file.ts`, name: `${folder} ${i}` },
  outcome: { failed: { kind, test: 'a test' }, passed: { kind }, error: { kind, reason: 'broken' } }[kind] as Outcome, // its members
});

const results = (folder: string, killed: number, others: readonly ('passed' | 'error')[] = []): Result[] => [
  ...Array.from({ length: killed }, (_, i) => result(folder, i, 'failed')),
  ...others.map((kind, i) => result(folder, killed + i, kind)),
];

describe('a run of the mutations', () => {
  const reasons = { 'auth 9': 'a reason', 'auth 8': 'a reason' };

  test.for<[name: string, results: Result[], isGood: boolean]>([
    ['all are killed', [...results('auth', 9), ...results('oauth', 2)], true],
    ['90 % are killed and the survivor has a reason', results('auth', 9, ['passed']), true],
    ['a survivor has no reason', results('oauth', 99, ['passed']), false],
    ['less than 90 % are killed', results('auth', 8, ['passed', 'passed']), false],
    [
      'less than 90 % are killed in one folder',
      [...results('oauth', 99), ...results('auth', 8, ['passed', 'passed'])],
      false,
    ],
    ['a suite did not run', results('auth', 99, ['error']), false],
    ['nothing was run', [], false],
  ])('%s: %$', ([, given, isGood]) => {
    expect(report(given, reasons).isGood).toBe(isGood);
  });

  test('is reported by folder, with the survivors and their reasons', () => {
    const given = [...results('oauth', 1), ...results('auth', 9, ['passed', 'error'])];

    expect(report(given, reasons).lines).toEqual([
      '   9/11  src/auth',
      '    1/1  src/oauth',
      'survivor: auth 9: a reason',
      'error: auth 10: broken',
      '10 of 12 mutations killed',
    ]);
  });
});
