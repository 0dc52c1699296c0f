import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { inject } from 'vitest';

export type TestDatabase = { readonly url: string; drop(): Promise<void> };

/** A migrated database of one's own, cloned from the template. */
export const createTestDatabase = (): Promise<TestDatabase> =>
  createDatabase((template) => `template ${template.pathname.slice(1)}`);

/** One as `create database` leaves it. */
export const createEmptyDatabase = (): Promise<TestDatabase> => createDatabase(() => '');

async function createDatabase(options: (template: URL) => string): Promise<TestDatabase> {
  const template = new URL(inject('templateUrl'));
  const name = `test_${randomBytes(6).toString('hex')}`;
  await asAdmin(template, `create database ${name} ${options(template)}`);
  const url = new URL(template);
  url.pathname = `/${name}`;
  return { url: url.href, drop: () => asAdmin(template, `drop database ${name} with (force)`) };
}

async function asAdmin(template: URL, sql: string): Promise<void> {
  const url = new URL(template);
  url.pathname = '/postgres';
  const admin = new pg.Client({ connectionString: url.href });
  await admin.connect();
  try {
    await admin.query(sql);
  } finally {
    await admin.end();
  }
}
