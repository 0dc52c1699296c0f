import pg from 'pg';
import { expect, test } from 'vitest';
import { createTestDatabase } from '../support/database.ts';

/**
 * The foreign keys without an index that finds every row by them: one whose first columns are those of the key, and
 * which is either not partial or leaves out only rows in which the key is null.
 */
const WITHOUT_INDEX = `
  select c.conrelid::regclass::text || ' (' || string_agg(a.attname, ', ' order by k.place) || ')' as key
  from pg_constraint c
  cross join unnest(c.conkey) with ordinality k(number, place)
  join pg_attribute a on a.attrelid = c.conrelid and a.attnum = k.number
  where c.contype = 'f' and c.connamespace = 'public'::regnamespace
    and not exists (
      select from pg_index i
      where i.indrelid = c.conrelid and i.indisvalid
        and (i.indkey::int2[])[0:cardinality(c.conkey) - 1] @> c.conkey
        and (i.indpred is null
          or pg_get_expr(i.indpred, i.indrelid) = format('(%I IS NOT NULL)', (
            select attname from pg_attribute where attrelid = c.conrelid and attnum = c.conkey[1]))))
  group by c.oid, c.conrelid
  order by 1`;

test('a delete finds the rows below it by an index: every foreign key has one', async () => {
  const database = await createTestDatabase();
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  try {
    const keys = await client.query(`select from pg_constraint where contype = 'f'`);
    expect(keys.rowCount).toBeGreaterThan(20);
    const { rows } = await client.query<{ key: string }>(WITHOUT_INDEX);
    expect(rows.map(({ key }) => key)).toEqual([]);

    await client.query('drop index membership_role_index');
    expect((await client.query(WITHOUT_INDEX)).rows).toEqual([{ key: 'membership (role_id)' }]);
  } finally {
    await client.end();
    await database.drop();
  }
});

/** Columns of foreign keys whose collation is another than that of the column that they refer to. */
const OTHER_COLLATION = `
  select c.conrelid::regclass::text || '.' || a.attname as column
  from pg_constraint c
  join pg_attribute a on a.attrelid = c.conrelid and a.attnum = c.conkey[1]
  join pg_attribute r on r.attrelid = c.confrelid and r.attnum = c.confkey[1]
  where c.contype = 'f' and c.connamespace = 'public'::regnamespace and a.attcollation <> r.attcollation
  order by 1`;

// Guarantees that a join finds rows by the index of the key: one of another collation is not used.
test('every foreign key has the collation of what it refers to', async () => {
  const database = await createTestDatabase();
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  try {
    expect((await client.query(OTHER_COLLATION)).rows).toEqual([]);
    await client.query('alter table membership alter column role_id type text collate "default"');
    expect((await client.query(OTHER_COLLATION)).rows).toEqual([{ column: 'membership.role_id' }]);
  } finally {
    await client.end();
    await database.drop();
  }
});
