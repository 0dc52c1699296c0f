import type { GuardFault } from './faults.ts';
import type { Sql } from './sql.ts';

/** An exact match wins over the order of the path, so that these replace built-in ones also from a later schema. */
const COMPARISONS = `'=', '<>', '<', '<=', '>', '>=', '||', '+', '-', '*', '/', '~', '~~', '->', '->>'`;

/** That of pgcrypto does what the built-in one does. */
const HARMLESS = `'gen_random_uuid'`;

/** The schema of the log, and what is found instead of what PostgreSQL or Roster defines. */
const SHADOWS = `with path as (
    select n.oid, n.nspname, p.place
    from json_array_elements_text(?::json) with ordinality p (name, place) join pg_namespace n on n.nspname = p.name
    where n.nspname <> 'pg_catalog' and n.oid <> pg_my_temp_schema()),
  home as (
    select p.* from path p join pg_class c on c.relnamespace = p.oid and c.relname = 'audit_event'
    order by p.place limit 1)
  select (select nspname::text from home) as home, array(
    select (c.relkind::text || ' ' || c.oid::regclass::text) from pg_class c
      join path p on p.oid = c.relnamespace and p.place < (select place from home)
      where exists (select from pg_class o where o.relnamespace = (select oid from home) and o.relname = c.relname)
    union all select 'operator ' || o.oid::regoperator::text from pg_operator o join path p on p.oid = o.oprnamespace
      where o.oprname::text in (${COMPARISONS}) and not exists (
        select from pg_type t where t.oid in (o.oprleft, o.oprright)
          and (t.typnamespace <> 'pg_catalog'::regnamespace or t.typcategory = 'A'))
    union all select 'function ' || f.oid::regprocedure::text from pg_proc f join path p on p.oid = f.pronamespace
      where f.proname::text not in (${HARMLESS})
        and exists (select from pg_proc b where b.proname = f.proname and b.pronamespace = 'pg_catalog'::regnamespace)
        and not exists (
          select from unnest(f.proargtypes::oid[]) a (type) join pg_type t on t.oid = a.type
          where t.typnamespace <> 'pg_catalog'::regnamespace)
    order by 1) as shadows`;

const toFault = (trigger: string): GuardFault => ({ kind: 'path_shadowed', trigger });

/**
 * Limits the search path of a transaction that verifies to `pg_catalog` and the schema of the log. The statements that do
 * so name the schema of everything that they call.
 * @returns what other transactions could find instead
 */
export async function pinSearchPath(tx: Sql): Promise<GuardFault[]> {
  const [session] = await tx.execute<{ schemas: string[] }[]>(
    'select pg_catalog.current_schemas(true)::pg_catalog.text[] as schemas',
  );
  const schemas = session?.schemas ?? [];
  await tx.execute('set local search_path = pg_catalog, pg_temp');
  const [found] = await tx.execute<{ home: string | null; shadows: string[] }[]>(SHADOWS, [JSON.stringify(schemas)]);
  // Without tables, the next statement fails by the name of the one that it reads.
  const home = found?.home ?? 'public';
  await tx.execute(`select set_config('search_path', 'pg_catalog, ' || quote_ident(?) || ', pg_temp', true)`, [home]);
  const first = schemas.find((name) => !name.startsWith('pg_temp')) ?? 'pg_catalog';
  return [
    ...(first === 'pg_catalog' ? [] : [toFault(`the schema ${first} in search_path`)]),
    ...(found?.shadows ?? []).map(toFault),
  ];
}

/** The search paths that are the default of the database or of roles that can write. */
const DEFAULTS = `select setting from pg_db_role_setting s, unnest(s.setconfig) setting
  where s.setdatabase in (0, (select oid from pg_database where datname = current_database()))
    and lower(setting) like 'search_path=%'
    and (s.setrole = 0 or has_table_privilege(s.setrole, 'audit_event', 'insert'))`;

/** Returns the default search paths of others that find something before what PostgreSQL defines. */
export async function checkDefaultPaths(tx: Sql): Promise<GuardFault[]> {
  const rows = await tx.execute<{ setting: string }[]>(DEFAULTS);
  return rows
    .filter(({ setting }) => setting.slice('search_path='.length).split(/, */).map(unquote).indexOf('pg_catalog') > 0)
    .map(({ setting }) => toFault(`the default ${setting}`));
}

const unquote = (name: string) => name.replaceAll('"', '');
