import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { declaredStatements } from '../../src/db/query.ts';

const SRC = join(import.meta.dirname, '../../src');

beforeAll(async () => {
  const declaring = globSync('**/*.ts', { cwd: SRC })
    .filter((file) => !file.startsWith('web/') && file !== 'main.ts')
    .filter((file) => /\b(query|command|recordedCommand)<.*>\(/.test(readFileSync(join(SRC, file), 'utf8')));
  for (const file of declaring) await import(join(SRC, file));
});

const WRITES =
  /\b(insert|update|delete|merge|truncate)\b|\bfor (no key update|key share|share)\b|\.add_job\(|_xact_lock\(/i;

const textsOf = (kind: 'query' | 'command') => declaredStatements().filter((statement) => statement.kind === kind);

test('every query only reads: it begins with select or with, and neither writes nor locks', () => {
  const wrong = textsOf('query').filter(({ text }) => !/^\s*(select|with)\b/i.test(text) || WRITES.test(text));
  expect(wrong.map(({ name }) => name)).toEqual([]);
  expect(textsOf('query').length).toBeGreaterThan(30);
});

test('every command writes', () => {
  expect(
    textsOf('command')
      .filter(({ text }) => !WRITES.test(text))
      .map(({ name }) => name),
  ).toEqual([]);
  expect(textsOf('command').length).toBeGreaterThan(15);
});
