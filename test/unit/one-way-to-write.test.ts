import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ALONE, TEXTS, WITHOUT_RIGHT } from './ways-to-write.ts';

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

test('each change that requires no right has a reason', () => {
  const counts = countsOf(/requires: 'nothing'/g, (file) => !file.startsWith('transactions/'));
  expect(counts).toEqual(Object.fromEntries(Object.entries(WITHOUT_RIGHT).map(([file, [count]]) => [file, count])));
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

/** The types of the parameters of each exported function of a service. Braces and brackets are left out with what is in them. */
const signatures = sources
  .filter(({ file }) => file.endsWith('.service.ts'))
  .flatMap(({ file, text }) =>
    [
      ...text.matchAll(
        /^export (?:async )?(?:function (\w+)(?:<.*>)?|const (\w+) = (?:async )?)\(([^]*?)\n?\)(?:: .*| =>.*| \{)$/gm,
      ),
    ].map(([, name, constant, parameters = '']) => ({
      name: `${file} ${name ?? constant}`,
      types: parameters
        .replaceAll(/\{[^{}]*\}|<[^<>]*>/g, '')
        .split(',')
        .map((parameter) => parameter.replace(/^.*:/s, '').trim())
        .filter((type) => type !== ''),
    })),
  );

// A reader of one knows how to call all others: what it works on, who calls, and what they want.
test('a service takes the database or all services, then its caller', () => {
  expect(signatures.length).toBeGreaterThan(100);
  const isCaller = (type: string) =>
    /^(?:Principal|TeamCaller|OperatorCaller|Operating|Caller|Remover|Deleter|Owner)\b/.test(type);
  const misplaced = signatures.filter(({ name, types }) => {
    if (/ (?:is|require|to)[A-Z]/.test(name)) return false; // asks about what it is given
    const [first = '', ...others] = types.filter((type) => !/^(?:BrowserClient|AuthenticatingBrowser)$/.test(type));
    return (
      others.some(isCaller) &&
      !(isCaller(others[0] ?? '') && /^(?:Database|TransactionScope|Services|Pick|Issuing|Change)$/.test(first))
    );
  });
  expect(misplaced.map(({ name, types }) => [name, types])).toEqual([]);
  expect(countsOf(/\{ db \}: (?:Services|Pick<Services)/g, (file) => file.endsWith('.service.ts'))).toEqual({});
});
