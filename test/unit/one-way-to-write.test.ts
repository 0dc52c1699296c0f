import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ALONE, TEXTS } from './ways-to-write.ts';

const SRC = join(import.meta.dirname, '../../src');

const all = globSync('**/*.ts', { cwd: SRC, exclude: ['web/**', 'db/**'] }).map((file) => ({
  file,
  text: readFileSync(join(SRC, file), 'utf8'),
}));
const sources = all.filter(({ file }) => !file.startsWith('events/chain/'));

/** How often each file does what a pattern finds. */
const countsOf = (
  pattern: RegExp,
  isOutside: (file: string) => boolean = () => true,
  within = sources,
): Record<string, number> =>
  Object.fromEntries(
    within
      .filter(({ file }) => isOutside(file))
      .map(({ file, text }) => [file, text.replaceAll(/^import .*$/gm, '').match(pattern)?.length ?? 0] as const)
      .filter(([, count]) => count > 0),
  );

test('nothing opens a transaction but `change`', () => {
  const doors = /\b(?:transaction|inSteps|within|with(?:Account|Team|Operator)|transact|runTogether)\(/g;
  expect(countsOf(doors, (file) => !file.startsWith('transactions/'))).toEqual({});
});

test('errors of entities and of named statements are told apart by their code', () => {
  expect(countsOf(/\b(?:\w+ConstraintViolationException|DriverException)\b/g)).toEqual({});
});

test('what is called queries only reads', () => {
  const writes = /\b(?:command|recordedCommand|change|lock\w+)[<(]|\.run\(/g;
  expect(countsOf(writes, (file) => file.endsWith('.queries.ts'))).toEqual({});
});

// The lists below only become shorter: a file that does less than its line says needs a new line, and a new file fails.
test('what a statement changes alone is listed', () => {
  expect(countsOf(/\bdb\.run\(|\brunAndRecord\(/g)).toEqual(ALONE);
});

test('each SQL text has a name, except on connections of their own and where it varies', () => {
  expect(Object.keys(countsOf(/\.execute(?:<[^(]*>)?\(/g)).toSorted()).toEqual(TEXTS);
});

test('entities are read in an open change alone: nothing else has an entity manager', () => {
  expect(countsOf(/\.em\(\)|\bem\.fork\(/g, undefined, all)).toEqual({});
});

test('rows are changed by entities, or by statements with a name', () => {
  expect(countsOf(/\.(?:native(?:Update|Delete|Insert)|upsert(?:Many)?)\(/g)).toEqual({});
});
