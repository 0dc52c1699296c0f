import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { MikroORM } from '@mikro-orm/postgresql';
import type { OpenSteps } from '../../src/db/pipeline/open-transaction.ts';
import { openOrm } from '../../src/db/connection/orm.ts';
import type { RowsOf, Step } from '../../src/db/query.ts';
import { claimSlug, claimSlugSteps, createSlugs } from '../../src/resources/teams/slug.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

const COUNT = 20_000;
const TOGETHER = 4;
let database: TestDatabase;
let orm: MikroORM;

beforeAll(async () => {
  database = await createTestDatabase();
  orm = await openOrm(database.url, { poolMax: TOGETHER });
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

type Transaction = Pick<pg.Client, 'query'> & {
  readonly steps: OpenSteps;
  readonly createSlug: (name: string) => Promise<string>;
};

/** Runs work in a transaction on a connection of its own, because those of a service would wait for each other's turn. */
async function inTransaction<R>(work: (tx: Transaction) => Promise<R>): Promise<R> {
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  const run = async <const Steps extends readonly Step[]>(sent: Steps) => {
    const results: unknown[] = [];
    for (const [{ text }, values] of sent) results.push((await client.query(text, [...values])).rows);
    return results as RowsOf<Steps>;
  };
  const steps: OpenSteps = { run, later: () => undefined };
  const createSlug = async (name: string) => claimSlug(steps, name, await run(claimSlugSteps(name)));
  try {
    await client.query('begin');
    const result = await work({ query: client.query.bind(client), steps, createSlug });
    await client.query('commit');
    return result;
  } finally {
    await client.end();
  }
}

/** The slug for a name, and how often choosing it looked into the index and read the table. */
const choose = (name: string) =>
  inTransaction(async (tx) => {
    const count = async () => {
      const { rows } = await tx.query<{ look_ups: number; scans: number }>(
        `select idx_scan::int as look_ups, seq_scan::int as scans from pg_stat_xact_user_tables where relname = 'team'`,
      );
      return rows[0] ?? { look_ups: 0, scans: 0 };
    };
    const before = await count();
    const slug = await tx.createSlug(name);
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

test('a name that no team has gives its slug at the first look-up, which is repeated once it is claimed', async () => {
  expect(await choose('Café Noir')).toEqual({ slug: 'cafe-noir', lookUps: 2, scans: 0 });
});

// Guarantees that a commit that takes long delays no other team of the name.
test('teams of one name get slugs of their own while none of them is committed', async () => {
  const chosen: string[] = [];
  const { promise: all, resolve } = Promise.withResolvers<void>();
  const create = () =>
    inTransaction(async (tx) => {
      const slug = await tx.createSlug('Night Shift');
      await tx.query(`insert into team (id, name, slug, created_at, updated_at) values ($1, 'x', $2, now(), now())`, [
        `team_${slug}`,
        slug,
      ]);
      chosen.push(slug);
      if (chosen.length === TOGETHER) resolve();
      await all;
    });
  await Promise.all(Array.from({ length: TOGETHER }, create));

  expect(chosen.toSorted()).toEqual(['night-shift', 'night-shift-2', 'night-shift-3', 'night-shift-4']);
});

test('a slug that a transaction in progress has claimed is passed over by many at once', async () => {
  const { promise: end, resolve } = Promise.withResolvers<void>();
  const { promise: claimed, resolve: claim } = Promise.withResolvers<void>();
  const first = inTransaction(async (tx) => {
    await tx.createSlug('Harbor');
    claim();
    await end;
  });
  await claimed;
  const slugs = await inTransaction(({ steps }) => createSlugs(steps, ['Harbor', 'Pier']));
  resolve();
  await first;

  expect(slugs).toEqual([expect.stringMatching(/^harbor-\d{10}$/), 'pier']);
});
