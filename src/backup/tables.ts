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
  where c.relnamespace = current_schema()::regnamespace and c.relkind in ('r', 'p') and not c.relispartition and c.relname <> 'mikro_orm_migrations'
  order by c.relname`;

/** Lists the tables of the service, each after the tables that it references. Excludes the migrations table. */
export async function listTables(client: Client): Promise<Table[]> {
  const { rows } = await client.query<Table & { needs: string[] }>(TABLES);
  const sorted: Table[] = [];
  for (let left = rows; left.length > 0;) {
    const isFree = ({ needs }: { needs: string[] }) => !left.some(({ name }) => needs.includes(name));
    const free = left.filter(isFree);
    if (free.length === 0)
      throw new Error(`the tables ${left.map(({ name }) => name).join(', ')} reference each other`);
    sorted.push(...free.map(({ name, columns }) => ({ name, columns })));
    left = left.filter((table) => !free.includes(table));
  }
  return sorted;
}

/**
 * Settings of a transaction: a text format that does not depend on the server, and no timeouts. Not of the session,
 * which a pooler shares.
 */
export const PLAIN_FORMATS = `
  set local datestyle = 'ISO'; set local intervalstyle = 'postgres'; set local timezone = 'UTC';
  set local bytea_output = 'hex'; set local extra_float_digits = 3; set local statement_timeout = 0;
  set local lock_timeout = 0; set local idle_in_transaction_session_timeout = 0`;
