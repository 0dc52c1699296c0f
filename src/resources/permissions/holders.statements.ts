import { command } from '../../db/query.ts';

// `$1` has what replaces each permission: an object of names; without a replacement it is dropped.
const NEXT = (column: string, also = 'true') =>
  `array(select distinct next.name from unnest(${column}) held(name)
     cross join lateral (select case when $1::jsonb ? held.name then $1::jsonb->>held.name else held.name end as name) next
     where next.name is not null and ${also} order by next.name)`;

const REMOVED = `array(select jsonb_object_keys($1::jsonb))`;

const replaceIn = (table: string, also = '', where = '') =>
  command<never>(
    `${table}_update_permissions`,
    `update ${table} h set product_permissions = ${NEXT('h.product_permissions')}${also}
     where h.product_permissions && ${REMOVED}${where}`,
  );

/** Replaces permissions in each of the tables that hold them, and counts the changes of those that have a version. */
export const REPLACEMENTS = [
  replaceIn('role', ', version = version + 1', ' and h.team_id is not null'),
  replaceIn('role_template', ', version = version + 1, updated_at = now()'),
  replaceIn('oauth_client'),
  replaceIn('oauth_grant'),
  replaceIn('oauth_token_family'),
  replaceIn('api_key'),
] as const;

/** Gives the system roles what the catalogue says. */
export const setSystemRoles = command<never>(
  'role_update_of_system',
  `update role r set product_permissions = next.names
   from (select s.id, array(select d.name from declared_permission d
           where s.id = 'owner' or s.id = any(d.roles) order by d.name) as names
         from role s where s.team_id is null) next
   where r.id = next.id and r.product_permissions is distinct from next.names`,
);

/** Notes on roles whether they hold a sensitive permission. */
export const setSensitive = command<never>(
  'role_update_sensitive',
  `update role r set is_sensitive = not r.is_sensitive
   where r.is_sensitive <> (r.product_permissions && array(select name from declared_permission where is_sensitive))`,
);

/** Takes from API keys what they can no longer hold. */
export const takeFromKeys = command<never>(
  'api_key_update_for_catalogue',
  `update api_key k set product_permissions = array(
     select held.name from unnest(k.product_permissions) held(name)
     where held.name = any(array(select name from declared_permission where is_for_keys)) order by held.name)
   where k.product_permissions <> '{}' and not k.product_permissions <@ array(select name from declared_permission where is_for_keys)`,
);
