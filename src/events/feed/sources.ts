import { activeMembership } from '../../db/predicates.ts';
import type { Config } from '../../config/config.ts';
import type { Encryption } from '../../crypto/encryption.ts';
import { publicKeyOf } from '../../crypto/webhook-secret.ts';
import { ACCOUNT_ONLY_SCOPES, OPENID_SCOPES, PERMISSIONS, SCOPES } from '../../entities/index.ts';
import type { CanonicalRow } from '../chain/event-columns.ts';
import type { DataKind } from '../data.ts';

/** Where the data of a kind comes from. */
type Source = {
  /** The key of the resource in an event; null if the event names none. */
  readonly keyOf: (event: CanonicalRow) => string | null;
  /** Returns `key` and `data` of the resources whose keys are in `?::text[]`. */
  readonly sql: string;
  /** Completes `data` with what only the configuration or a key tells. Null if it cannot be shown. */
  readonly complete?: (data: Row, services: PayloadServices) => object | null;
};

/** The services that payloads are made with. */
export type PayloadServices = { readonly config: Pick<Config, 'plans'>; readonly encryption: Encryption };

type Row = Readonly<Record<string, unknown>>;

const time = (column: string) => `to_char(${column} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;

const ROLE_OF = `'roleId', r.id, 'roleName', r.name, 'isSystemRole', r.team_id is null`;

const quoted = (words: readonly string[]) => words.map((word) => `'${word}'`).join(', ');

const targetOf = (event: CanonicalRow) => event.target_id;

/** The same fields as in `DATA`. */
export const SOURCES: Readonly<Record<DataKind, Source>> = {
  account: {
    keyOf: (event) => event.account_id,
    sql: `select a.id as key, json_build_object('id', a.id, 'email', a.email, 'firstName', a.first_name,
        'lastName', a.last_name, 'role', a.role, 'avatar', a.avatar, 'preferredLocale', a.preferred_locale,
        'externalId', a.external_id, 'emailVerified', ${time('a.email_verified_at')}, 'createdAt', ${time('a.created_at')},
        'updatedAt', ${time('a.updated_at')}) as data
      from account a where a.id = any(?::text[])`,
  },
  accountMetadata: {
    keyOf: (event) => event.account_id,
    sql: `select a.id as key, json_build_object('accountId', a.id, 'public', a.public_metadata) as data
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
    sql: `select p.id as key, json_build_object('id', p.id, 'name', p.name, 'createdAt', ${time('p.created_at')},
        'lastUsedAt', ${time('p.last_used_at')}) as data
      from passkey p where p.id = any(?::text[])`,
  },
  team: {
    keyOf: (event) => event.team_id,
    sql: `select t.id as key, json_build_object('id', t.id, 'name', t.name, 'slug', t.slug,
        'description', t.description, 'avatarUrl', t.avatar_url, 'externalId', t.external_id) as data
      from team t where t.id = any(?::text[])`,
  },
  teamMetadata: {
    keyOf: (event) => event.team_id,
    sql: `select t.id as key, json_build_object('teamId', t.id, 'public', t.public_metadata) as data
      from team t where t.id = any(?::text[])`,
  },
  member: {
    keyOf: ({ account_id: accountId, team_id: teamId }) => accountId && teamId && `${accountId} ${teamId}`,
    sql: `select m.account_id || ' ' || m.team_id as key, json_build_object('membershipId', m.id, 'accountId', a.id, 'userId', a.id,
        'email', a.email, 'firstName', a.first_name, 'lastName', a.last_name, 'avatar', a.avatar, ${ROLE_OF},
        'isActive', ${activeMembership('m')}, 'status', case when not m.is_active then 'inactive'
          when ${activeMembership('m')} then 'active' else 'expired' end,
        'joinedAt', ${time('m.joined_at')}, 'expiresAt', ${time('m.expires_at')}) as data
      from unnest(?::text[]) pair
      join membership m on m.account_id = split_part(pair, ' ', 1) and m.team_id = split_part(pair, ' ', 2)
      join account a on a.id = m.account_id join role r on r.id = m.role_id`,
  },
  memberMetadata: {
    keyOf: ({ account_id: accountId, team_id: teamId }) => accountId && teamId && `${accountId} ${teamId}`,
    sql: `select m.account_id || ' ' || m.team_id as key, json_build_object('membershipId', m.id,
        'accountId', m.account_id, 'public', m.public_metadata) as data
      from unnest(?::text[]) pair
      join membership m on m.account_id = split_part(pair, ' ', 1) and m.team_id = split_part(pair, ' ', 2)`,
  },
  role: {
    keyOf: targetOf,
    sql: `select r.id as key, json_build_object('roleId', r.id, 'name', r.name, 'isSystemRole', r.team_id is null,
        'permissions', array(select p from unnest(array[${quoted(PERMISSIONS)}]) p where p = any(r.permissions)),
        'productPermissions', r.product_permissions) as data
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
        'scopes', k.scopes, 'permissions', k.product_permissions, 'teamId', k.team_id,
        'createdAt', ${time('k.created_at')}, 'lastUsedAt', ${time('k.last_used_at')},
        'expiresAt', ${time('k.expires_at')}) as data
      from api_key k where k.id = any(?::text[])`,
  },
  subscription: {
    keyOf: (event) => event.team_id,
    sql: `select s.team_id as key, json_build_object('planId', s.plan_id, 'status', s.status, 'interval', s."interval",
        'addons', s.addons, 'planExpiresAt', ${time('s.plan_expires_at')},
        'cancelAtPeriodEnd', s.cancel_at_period_end, 'needsPaymentAction', s.needs_payment_action) as data
      from subscription s where s.team_id = any(?::text[])`,
    complete: ({ planId, ...subscription }, { config: { plans } }) => {
      const id = String(planId);
      return { planId: id, planName: plans.get(id)?.name ?? id, ...subscription };
    },
  },
  oauthClient: {
    keyOf: (event) => event.client_id,
    sql: `select c.id as key, json_build_object('id', c.id, 'name', c.name, 'redirectUris', c.redirect_uris,
        'isNative', c.is_native, 'isConfidential', c.is_confidential, 'createdAt', ${time('c.created_at')}) as data
      from oauth_client c where c.id = any(?::text[])`,
  },
  client: {
    keyOf: (event) => event.client_id,
    sql: `select c.id as key, json_build_object('id', c.id, 'name', c.name) as data
      from oauth_client c where c.id = any(?::text[])`,
  },
  oauthGrant: {
    keyOf: targetOf,
    sql: `select g.id as key, json_build_object('id', g.id, 'client', json_build_object('id', c.id, 'name', c.name),
        'audience', g.audience, 'resource', coalesce(g.resource, 'api'),
        'team', case when t.id is not null then json_build_object('id', t.id, 'name', t.name) end,
        'scopes', array(select s from unnest(array[${quoted(SCOPES)}]) s where s = any(g.scopes)
          and (g.team_id is null or s not in (${quoted(ACCOUNT_ONLY_SCOPES)}))),
        'openidScopes', array(select s from unnest(array[${quoted(OPENID_SCOPES)}]) s where s = any(g.openid_scopes)),
        'createdAt', ${time('g.created_at')}, 'lastUsedAt', ${time('g.last_used_at')},
        'expiresAt', ${time('g.expires_at')}) as data
      from oauth_grant g join oauth_client c on c.id = g.client_id left join team t on t.id = g.team_id
      where g.id = any(?::text[])`,
  },
  webhookEndpoint: {
    keyOf: targetOf,
    sql: `select w.id as key, json_build_object('endpointId', w.id, 'url', w.url, 'types', w.types, 'secret', w.secret,
        'status', case when w.disabled_at is not null then 'disabled' when w.paused_at is not null then 'paused'
          when w.failing_since is not null then 'failing' else 'active' end,
        'disabledReason', w.disabled_reason, 'failingSince', ${time('w.failing_since')}, 'previousSecretExpiresAt',
        case when w.previous_expires_at > now() then ${time('w.previous_expires_at')} end,
        'responsibleAccountId', w.account_id, 'responsibleUserId', w.account_id, 'createdAt', ${time('w.created_at')}) as data
      from webhook_endpoint w where w.id = any(?::text[]) and w.deleted_at is null`,
    complete: showEndpoint,
  },
  operatorKey: {
    keyOf: targetOf,
    sql: `select k.id as key, json_build_object('id', k.id, 'name', k.name, 'keyPrefix', k.key_prefix, 'last4', k.last4,
        'scopes', k.scopes, 'addresses', k.addresses, 'createdAt', ${time('k.created_at')},
        'lastUsedAt', ${time('k.last_used_at')}, 'expiresAt', ${time('k.expires_at')}) as data
      from operator_key k where k.id = any(?::text[])`,
  },
};

/** Replaces the secret of an endpoint by its public key. Of the URL only the origin: the rest can contain a secret. */
function showEndpoint({ secret, url, ...endpoint }: Row, { encryption }: PayloadServices): object | null {
  const publicKey = readPublicKey(encryption, String(secret));
  if (publicKey === undefined) return null;
  const signature = publicKey === null ? 'hmac' : 'ed25519';
  return { ...endpoint, url: new URL(String(url)).origin, signature, publicKey };
}

/** @returns undefined if no key decrypts the secret, which must not stop the numbering of events */
function readPublicKey(encryption: Encryption, secret: string): string | null | undefined {
  try {
    return publicKeyOf(encryption.decrypt(secret));
  } catch {
    return undefined;
  }
}
