import { afterAll, beforeAll, expect, test } from 'vitest';
import type { MikroORM } from '@mikro-orm/postgresql';
import { openOrm } from '../../src/db/orm.ts';
import { createSlug } from '../../src/resources/teams/slug.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

const COUNT = 20_000;
let database: TestDatabase;
let orm: MikroORM;

beforeAll(async () => {
  database = await createTestDatabase();
  orm = await openOrm(database.url, { poolMax: 2 });
  await orm.em.execute(
    `insert into team (id, name, slug, created_at, updated_at)
     select 'team_' || n, 'Core', case n when 1 then 'core' else 'core-' || n end, now(), now()
     from generate_series(1, ${COUNT}) n`,
  );
  await orm.em.execute('analyze team');
});

afterAll(async () => {
  await orm.close(true);
  await database.drop();
});

/** The slug for a name, and how often choosing it looked into the index and read the table. */
const choose = (name: string) =>
  orm.em.fork().transactional(async (tx) => {
    const count = async () => {
      const [row] = await tx.execute<{ look_ups: number; scans: number }[]>(
        `select idx_scan::int as look_ups, seq_scan::int as scans from pg_stat_xact_user_tables where relname = 'team'`,
      );
      return row ?? { look_ups: 0, scans: 0 };
    };
    const before = await count();
    const slug = await createSlug(tx, name);
    const after = await count();
    return { slug, lookUps: after.look_ups - before.look_ups, scans: after.scans - before.scans };
  });

test('the slug of a name that very many teams have is found by a few look-ups in the index', async () => {
  const { slug, lookUps, scans } = await choose('Core');

  expect(slug).toBe(`core-${COUNT + 1}`);
  expect(lookUps).toBeLessThan(40);
  expect(scans).toBe(0);
});

test('a slug is free also where the numbers have gaps', async () => {
  await orm.em.execute(`delete from team where slug in ('core-2', 'core-9000')`);

  expect((await choose('Core')).slug).toBe('core-2');
});

test('a name that no team has gives its slug at the first look-up', async () => {
  expect(await choose('Café Noir')).toEqual({ slug: 'cafe-noir', lookUps: 1, scans: 0 });
});
