import { activeMembership } from '../../db/predicates.ts';
import { PERMISSIONS } from '../../entities/index.ts';
import type { CanonicalRow } from '../chain/event-columns.ts';
import type { DataKind } from '../data.ts';

/** Where the data of a kind comes from. */
type Source = {
  /** The key of the resource in an event; null if the event names none. */
  readonly keyOf: (event: CanonicalRow) => string | null;
  /** Returns `key` and `data` of the resources whose keys are in `?::text[]`. */
  readonly sql: string;
};

const time = (column: string) => `to_char(${column} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;

const ROLE_OF = `'roleId', r.id, 'roleName', r.name, 'isSystemRole', r.team_id is null`;

const permissionList = PERMISSIONS.map((permission) => `'${permission}'`).join(', ');

const targetOf = (event: CanonicalRow) => event.target_id;

/** The same fields as in `DATA`. */
export const SOURCES: Readonly<Record<DataKind, Source>> = {
  account: {
    keyOf: (event) => event.account_id,
    sql: `select a.id as key, json_build_object('id', a.id, 'email', a.email, 'firstName', a.first_name,
        'lastName', a.last_name, 'role', a.role, 'avatar', a.avatar, 'preferredLocale', a.preferred_locale,
        'emailVerified', ${time('a.email_verified_at')}, 'createdAt', ${time('a.created_at')},
        'updatedAt', ${time('a.updated_at')}) as data
      from account a where a.id = any(?::text[])`,
  },
  session: {
    keyOf: targetOf,
    sql: `select s.id as key, json_build_object('id', s.id, 'createdAt', ${time('s.created_at')},
        'expiresAt', ${time('s.expires_at')}, 'authenticationType', s.authentication_type, 'country', s.country,
        'city', s.city, 'browser', s.browser, 'os', s.os, 'deviceType', s.device_type) as data
      from session s where s.id = any(?::text[])`,
  },
  passkey: {
    keyOf: targetOf,
    sql: `select p.id as key, json_build_object('id', p.id, 'name', p.name, 'createdAt', ${time('p.created_at')}) as data
      from passkey p where p.id = any(?::text[])`,
  },
  team: {
    keyOf: (event) => event.team_id,
    sql: `select t.id as key, json_build_object('id', t.id, 'name', t.name, 'slug', t.slug,
        'description', t.description, 'avatarUrl', t.avatar_url) as data
      from team t where t.id = any(?::text[])`,
  },
  member: {
    keyOf: ({ account_id: accountId, team_id: teamId }) => accountId && teamId && `${accountId} ${teamId}`,
    sql: `select m.account_id || ' ' || m.team_id as key, json_build_object('membershipId', m.id, 'userId', a.id,
        'email', a.email, 'firstName', a.first_name, 'lastName', a.last_name, 'avatar', a.avatar, ${ROLE_OF},
        'isActive', ${activeMembership('m')}, 'joinedAt', ${time('m.joined_at')}) as data
      from unnest(?::text[]) pair
      join membership m on m.account_id = split_part(pair, ' ', 1) and m.team_id = split_part(pair, ' ', 2)
      join account a on a.id = m.account_id join role r on r.id = m.role_id`,
  },
  role: {
    keyOf: targetOf,
    sql: `select r.id as key, json_build_object('roleId', r.id, 'name', r.name, 'isSystemRole', r.team_id is null,
        'permissions', array(select p from unnest(array[${permissionList}]) p where p = any(r.permissions))) as data
      from role r where r.id = any(?::text[])`,
  },
  invitation: {
    keyOf: targetOf,
    sql: `select i.id as key, json_build_object('id', i.id, 'email', i.email, ${ROLE_OF},
        'createdAt', ${time('i.created_at')}, 'expiresAt', ${time('i.expires_at')}) as data
      from invitation i join role r on r.id = i.role_id where i.id = any(?::text[])`,
  },
  apiKey: {
    keyOf: targetOf,
    sql: `select k.id as key, json_build_object('id', k.id, 'name', k.name, 'keyPrefix', k.key_prefix, 'last4', k.last4,
        'scopes', k.scopes, 'teamId', k.team_id, 'createdAt', ${time('k.created_at')},
        'lastUsedAt', ${time('k.last_used_at')}, 'expiresAt', ${time('k.expires_at')}) as data
      from api_key k where k.id = any(?::text[])`,
  },
  oauthClient: {
    keyOf: (event) => event.client_id,
    sql: `select c.id as key, json_build_object('id', c.id, 'name', c.name) as data
      from oauth_client c where c.id = any(?::text[])`,
  },
  oauthGrant: {
    keyOf: targetOf,
    sql: `select g.id as key, json_build_object('id', g.id, 'clientId', g.client_id, 'scopes', g.scopes,
        'teamId', g.team_id, 'createdAt', ${time('g.created_at')}, 'expiresAt', ${time('g.expires_at')}) as data
      from oauth_grant g where g.id = any(?::text[])`,
  },
};
