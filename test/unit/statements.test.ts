import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { query } from '../../src/db/query.ts';
import { allStatements } from '../support/statements.ts';

const ENTITIES = join(import.meta.dirname, '../../src/entities');

const statements = await allStatements();

const WRITES =
  /\b(insert|update|delete|merge|truncate)\b|\bfor (no key update|key share|share)\b|\.(?:add_job|reschedule_jobs)\(|_xact_lock(_shared)?\(/i;

const textsOf = (kind: 'query' | 'command') => statements.filter((statement) => statement.kind === kind);

test('every query only reads: it begins with select or with, and neither writes nor locks', () => {
  const wrong = textsOf('query').filter(({ text }) => !/^\s*(select|with)\b/i.test(text) || WRITES.test(text));
  expect(wrong.map(({ name }) => name)).toEqual([]);
  expect(textsOf('query').length).toBeGreaterThan(200);
});

test('every command writes', () => {
  expect(
    textsOf('command')
      .filter(({ text }) => !WRITES.test(text))
      .map(({ name }) => name),
  ).toEqual([]);
  expect(textsOf('command').length).toBeGreaterThan(80);
});

/** What a statement does, by its kind. Another verb is a reason to look for one of these first. */
const VERBS = {
  query: ['find', 'list', 'count', 'check', 'export', 'authenticate', 'describe', 'verify'],
  command: ['lock', 'insert', 'upsert', 'update', 'delete', 'claim', 'consume', 'revoke'],
} as const;

/** What statements are about that is no table of an entity. */
const OTHERS = ['caller', 'database', 'job', 'mailbox'];

test('every name is the entity, what is done with it, and what tells it from others', () => {
  const sources = globSync('*.ts', { cwd: ENTITIES }).map((file) => readFileSync(join(ENTITIES, file), 'utf8'));
  const tables = sources.flatMap((source) => [...source.matchAll(/tableName: '(\w+)'/g)].map(([, table]) => table));
  expect(tables).toEqual(expect.arrayContaining(['account', 'api_key', 'webhook_delivery']));
  const entities = [...tables, ...OTHERS].join('|');
  const wrong = statements.filter(
    ({ name, kind }) =>
      // Other tests of this process declare some of their own.
      !name.startsWith('test_') &&
      !new RegExp(`^(?:${entities})_(?:${VERBS[kind].join('|')})(?:_[a-z_]+)?$`).test(name),
  );
  expect(wrong.map(({ name }) => name)).toEqual([]);
});

test('no name is longer than PostgreSQL keeps', () => {
  expect(statements.map(({ name }) => name).filter((name) => name.length > 63)).toEqual([]);
});

test('a second statement with the name of another is not declared', () => {
  query('test_unique', 'select 1');
  expect(() => query('test_unique', 'select 1')).toThrow('Two statements have the name test_unique.');
});
