import pg from 'pg';

type Deferred = { readonly drop: string; readonly create: string };

/** The foreign keys of tables; those of partitions belong to them. */
const FOREIGN_KEYS = `
  select format('alter table %s drop constraint %I', conrelid::regclass, conname) as drop,
    format('alter table %s add constraint %I %s', conrelid::regclass, conname, pg_get_constraintdef(oid)) as create
  from pg_constraint
  where contype = 'f' and conparentid = 0 and conrelid = any($1::text[]::regclass[])
  order by conrelid::regclass::text, conname`;

/** The indexes of tables that are not of a constraint. Those of a partitioned table stay: its partitions have names for them. */
const INDEXES = `
  select format('drop index %s', i.indexrelid::regclass) as drop, pg_get_indexdef(i.indexrelid) as create
  from pg_index i join pg_class c on c.oid = i.indrelid
  where c.relkind = 'r' and i.indrelid = any($1::text[]::regclass[])
    and not exists (select from pg_constraint where conindid = i.indexrelid)
  order by i.indexrelid::regclass::text`;

/**
 * Drops foreign keys and indexes while rows are loaded. With them, PostgreSQL would remember each row until the end of
 * its table to check it, and would write to pages all over the indexes.
 * @returns creates them again, and checks the foreign keys
 */
export async function deferChecksAndIndexes(
  client: pg.Client,
  tables: readonly string[],
): Promise<() => Promise<void>> {
  const names = tables.map((name) => pg.escapeIdentifier(name));
  const { rows: keys } = await client.query<Deferred>(FOREIGN_KEYS, [names]);
  const { rows: indexes } = await client.query<Deferred>(INDEXES, [names]);
  for (const { drop } of [...keys, ...indexes]) await client.query(drop);
  return async () => {
    // The checks of foreign keys may need the indexes.
    for (const { create } of [...indexes, ...keys]) await client.query(create);
  };
}
