import { existsSync, globSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { KNOWN_SURVIVORS, MUTATIONS } from '../mutation/mutations.ts';

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
