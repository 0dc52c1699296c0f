import type { Client } from 'pg';

export type Table = { readonly name: string; readonly columns: readonly string[] };

const TABLES = `
  select c.relname as name,
    array(select a.attname::text from pg_attribute a
          where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
          order by a.attnum) as columns,
    array(select f.relname::text from pg_constraint r join pg_class f on f.oid = r.confrelid
          where r.conrelid = c.oid and r.contype = 'f' and r.confrelid <> c.oid) as needs
  from pg_class c
  where c.relnamespace = current_schema()::regnamespace and c.relkind = 'r' and c.relname <> 'mikro_orm_migrations'
  order by c.relname`;

/** The tables there are, each after those that it refers to; without the migrations' own. */
export async function tablesOf(client: Client): Promise<Table[]> {
  const { rows } = await client.query<Table & { needs: string[] }>(TABLES);
  const sorted: Table[] = [];
  for (let left = rows; left.length > 0;) {
    const isFree = ({ needs }: { needs: string[] }) => !left.some(({ name }) => needs.includes(name));
    const free = left.filter(isFree);
    if (free.length === 0) throw new Error(`the tables ${left.map(({ name }) => name).join(', ')} refer to each other`);
    sorted.push(...free.map(({ name, columns }) => ({ name, columns })));
    left = left.filter((table) => !free.includes(table));
  }
  return sorted;
}

/** Names of the migrations that a database has had, in their order; none where it is no database of ours yet. */
export async function appliedMigrations(client: Client): Promise<string[]> {
  const { rows: found } = await client.query<{ exists: boolean }>(
    `select to_regclass('mikro_orm_migrations') is not null as exists`,
  );
  if (found[0]?.exists !== true) return [];
  const { rows } = await client.query<{ name: string }>('select name from mikro_orm_migrations order by name');
  return rows.map(({ name }) => name);
}

/** The values of a type as every server reads them alike. */
export const PLAIN_FORMATS = `
  set datestyle = 'ISO'; set intervalstyle = 'postgres'; set timezone = 'UTC'; set bytea_output = 'hex';
  set extra_float_digits = 3; set statement_timeout = 0; set lock_timeout = 0; set idle_in_transaction_session_timeout = 0`;
