import { REFRESH_REPEAT_MAX_SECONDS } from '../config/config.ts';
import {
  activeMembership,
  enforceableScopes,
  liveApiKey,
  liveFamily,
  liveGrant,
  openSession,
} from '../db/predicates.ts';
import { query, type QueryRunner } from '../db/query.ts';
import type { Permission, ProductPermission, Resource } from '../entities/index.ts';
import type { ActiveMembership } from './principal.ts';

export type MembershipColumns = {
  membership_id: string | null;
  role_id: string;
  role_name: string;
  /** Separated by spaces, like all lists here, because text is faster to parse than arrays. */
  permissions: string;
  product_permissions: string;
  team_name: string;
  team_slug: string;
  team_description: string | null;
  team_avatar_url: string | null;
};

// Inactive members are treated as non-members.
export const MEMBERSHIP_COLUMNS = `m.id as membership_id, r.id as role_id, r.name as role_name,
    array_to_string(r.permissions, ' ') as permissions,
    array_to_string(r.product_permissions, ' ') as product_permissions,
    t.name as team_name, t.slug as team_slug, t.description as team_description, t.avatar_url as team_avatar_url`;
const ACTIVE = activeMembership('m');

/** How a kind of credential is found by its hash (`$1`), and the account `a` that it belongs to. */
export type CredentialSource = {
  readonly columns: string;
  readonly from: string;
  readonly where: string;
  readonly membershipFilter?: string;
  /** What it can have of what a role holds of the product, if it is limited. */
  readonly productLimit?: string;
};

/** Joins the membership `m` of the account in a team, with its role `r` and its team `t`. */
const joinMembership = (teamId: string, { membershipFilter = '' }: CredentialSource): string =>
  `left join membership m on m.account_id = a.id and m.team_id = ${teamId} and ${ACTIVE} ${membershipFilter}
     left join role r on r.id = m.role_id
     left join team t on t.id = m.team_id`;

/**
 * Selects what the role `r` holds of the product; null if a credential has all that it is limited to. The names of up to
 * 500 take longer to send and to read than all else. The owner holds the whole catalogue, and nothing is limited to more:
 * see `applyCatalogue`.
 */
const heldBeyond = (limit: string | undefined): string =>
  limit === undefined
    ? `array_to_string(r.product_permissions, ' ')`
    : `case when r.id <> 'owner' and ${limit} not in ('{}', r.product_permissions)
           then array_to_string(r.product_permissions, ' ') end`;

/**
 * Joins the membership like `joinMembership`, of a team that the statement itself finds. `offset 0` keeps PostgreSQL
 * from reading all memberships of the account, of which it expects few, before it compares their teams.
 * @param also further columns of the membership and the team
 */
export const joinRequestedMembership = (
  teamId: string,
  { membershipFilter = '', productLimit }: CredentialSource,
  also?: string,
): string =>
  `left join lateral (
       select ${also === undefined ? '' : `${also}, `}m.team_id as member_team_id, r.id as role_id, r.name as role_name,
         array_to_string(r.permissions, ' ') as permissions,
         ${heldBeyond(productLimit)} as product_permissions, t.name as team_name, t.slug as team_slug
       from membership m join role r on r.id = m.role_id join team t on t.id = m.team_id
       where m.account_id = a.id and m.team_id = ${teamId} and ${ACTIVE} ${membershipFilter}
       offset 0
     ) member on true`;

/**
 * Declares the look-up of a credential: one statement that also returns the caller's membership, for requests that
 * name a team, and a smaller one for requests that do not.
 */
function credentialLookup<Row extends { account_id: string }>(name: string, source: CredentialSource) {
  const { columns, from, where } = source;
  const withoutTeam = query<Row>(name, `select ${columns} from ${from} where ${where} and a.disabled_at is null`);
  const inTeam = query<Row & MembershipColumns>(
    `${name}_in_team`,
    `select ${columns}, ${MEMBERSHIP_COLUMNS}
     from ${from}
     ${joinMembership('$2', source)}
     where ${where} and a.disabled_at is null`,
  );
  return async (db: QueryRunner, hash: Buffer, teamId: string | null) => {
    if (teamId === null) {
      const [row] = await db.query(withoutTeam, [hash]);
      return row && { row, membership: null };
    }
    const [row] = await db.query(inTeam, [hash, teamId]);
    return row && { row, membership: toMembership(row, row.account_id, teamId) };
  };
}

export type ApiKeyRow = {
  key_id: string;
  account_id: string;
  team_id: string | null;
  scopes: string;
  product_limit: string;
  client_id: string | null;
};

// A key that was created through a grant is valid only while the grant is.
export const API_KEY_SOURCE: CredentialSource = {
  columns: `k.id as key_id, k.account_id, k.team_id, array_to_string(k.scopes, ' ') as scopes,
    array_to_string(k.product_permissions, ' ') as product_limit, g.client_id`,
  from: `api_key_secret s join api_key k on k.id = s.api_key_id join account a on a.id = k.account_id
      left join oauth_grant g on g.id = k.oauth_grant_id`,
  where: `s.secret_hash = $1 and (s.expires_at is null or s.expires_at > now())
      and ${liveApiKey('k')} and (k.oauth_grant_id is null or (${liveGrant('g')}))`,
  membershipFilter: 'and (k.team_id is null or k.team_id = m.team_id)',
  productLimit: 'k.product_permissions',
};
export const findApiKey = credentialLookup<ApiKeyRow>('api_key_authenticate', API_KEY_SOURCE);

export type TokenRow = {
  grant_id: string;
  client_id: string;
  family_id: string | null;
  /** The session of a first-party token. */
  session_id: string | null;
  resource: Resource;
  account_id: string;
  team_id: string | null;
  token_scopes: string;
  grant_scopes: string;
  product_limit: string;
  thumbprint: string | null;
  active_team_id: string | null;
  is_unproven: boolean;
};

// `is_unproven`: issued by a refresh that the client can still repeat, unless the token was used. The interval is
// the longest that OAUTH_REFRESH_REPEAT can be.
export const ACCESS_TOKEN_SOURCE: CredentialSource = {
  columns: `g.id as grant_id, g.client_id, k.family_id, f.session_id, coalesce(g.resource, 'api') as resource, g.account_id, g.team_id,
    array_to_string(k.scopes, ' ') as token_scopes, array_to_string(${enforceableScopes('f', 'g')}, ' ') as grant_scopes,
    array_to_string(g.product_permissions, ' ') as product_limit, k.thumbprint, k.active_team_id,
    k.used_at is null and k.created_at > now() - interval '${REFRESH_REPEAT_MAX_SECONDS} seconds'
      and k.payload->>'gty' like '%refresh_token' as is_unproven`,
  from: `oauth_token k join oauth_grant g on g.id = k.grant_id join account a on a.id = g.account_id
      left join oauth_token_family f on f.id = k.family_id`,
  where: `k.token_hash = $1 and k.kind = 'access' and k.expires_at > now() and ${liveGrant('g')}
      and ${liveFamily('f', 'g')}`,
  membershipFilter: 'and (g.team_id is null or g.team_id = m.team_id)',
};
export const findAccessToken = credentialLookup<TokenRow>('oauth_token_authenticate', ACCESS_TOKEN_SOURCE);

export type SessionRow = { session_id: string; account_id: string };

export const SESSION_SOURCE: CredentialSource = {
  columns: 's.id as session_id, s.account_id',
  from: 'session s join account a on a.id = s.account_id',
  where: `s.token_hash = $1 and ${openSession('s')}`,
};
export const findSession = credentialLookup<SessionRow>('session_authenticate', SESSION_SOURCE);

/** The sign-up that a session cookie belongs to until its email address is verified. It has no account yet. */
export type PendingSignUp = {
  readonly id: string;
  readonly accountId: string;
  readonly email: string;
  readonly firstName: string | null;
  readonly lastName: string | null;
  readonly createdAt: string;
  readonly expiresAt: string;
};

// Queried only for tokens that belong to no session, so that signed-in requests do not pay for it.
export const findSignUp = query<PendingSignUp>(
  'sign_up_attempt_authenticate',
  `select id, account_id as "accountId", email, first_name as "firstName", last_name as "lastName",
     created_at as "createdAt", expires_at as "expiresAt"
   from sign_up_attempt where session_token_hash = $1 and expires_at > now()`,
);

export const findMembership = query<MembershipColumns>(
  'membership_find_active',
  `select ${MEMBERSHIP_COLUMNS}
   from membership m
   join role r on r.id = m.role_id
   join team t on t.id = m.team_id
   where m.account_id = $1 and m.team_id = $2 and ${ACTIVE}`,
);

export function toMembership(row: MembershipColumns, accountId: string, teamId: string): ActiveMembership | null {
  if (row.membership_id === null) return null;
  return {
    id: row.membership_id,
    accountId,
    role: { id: row.role_id, name: row.role_name },
    permissions: splitList<Permission>(row.permissions),
    productPermissions: splitList<ProductPermission>(row.product_permissions),
    team: {
      id: teamId,
      name: row.team_name,
      slug: row.team_slug,
      description: row.team_description,
      avatarUrl: row.team_avatar_url,
    },
  };
}

const lists = new Map<string, readonly string[]>();
/** Roles and keys can hold any selection of a catalogue. */
const LISTS_MAX = 10_000;

/** Splits a list that `array_to_string` joined. Equal lists share one array, because few differ. */
export function splitList<Word extends string>(text: string): readonly Word[] {
  const known = lists.get(text);
  if (known !== undefined) return known as readonly Word[]; // CHECK constraints hold the columns to their words
  const words = text === '' ? [] : text.split(' ');
  if (lists.size >= LISTS_MAX) lists.clear();
  lists.set(text, words);
  return words as Word[];
}
