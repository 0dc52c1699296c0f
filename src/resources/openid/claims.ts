import { hash } from 'node:crypto';
import type { Services } from '../../service/services.ts';
import { hashSecret } from '../../crypto/tokens.ts';
import { activeMembership } from '../../db/predicates.ts';
import { query, type QueryRunner } from '../../db/query.ts';
import { signClaims } from './signing-keys.ts';

/** How long an id token is valid: as long as an access token that comes with it. */
const ID_TOKEN_SECONDS = 600;

type Row = {
  account_id: string;
  client_id: string;
  session_id: string | null;
  email: string;
  is_verified: boolean;
  first_name: string | null;
  last_name: string | null;
  avatar: string | null;
  preferred_locale: string | null;
  openid_scopes: string[];
  nonce: string | null;
  proofs: Record<string, string> | null;
  roster_team: RosterTeam | null;
};

/** The active team of a token, with the role and the permissions that the user has there. */
type RosterTeam = {
  readonly id: string;
  readonly slug: string;
  readonly externalId: string | null;
  readonly role: string;
  readonly permissions: readonly string[];
};

// A consent to fewer scopes takes them from all devices. Those of first-party clients need none.
const findFacts = query<Row>(
  'oauth_token_family_find_openid',
  `select f.account_id, f.client_id, f.session_id, a.email, a.email_verified_at is not null as is_verified,
     a.first_name, a.last_name, a.avatar, a.preferred_locale, given.scopes as openid_scopes, f.nonce, f.proofs,
     member.roster_team
   from oauth_token_family f join account a on a.id = f.account_id
   left join oauth_grant g on g.id = f.grant_id
   left join oauth_token k on k.token_hash = $2 and k.family_id = f.id
   left join lateral (
     select jsonb_build_object('id', t.id, 'slug', t.slug, 'externalId', t.external_id, 'role', r.id,
       'permissions', r.permissions || r.product_permissions) as roster_team
     from membership m join team t on t.id = m.team_id join role r on r.id = m.role_id
     where m.account_id = f.account_id and m.team_id = k.active_team_id and ${activeMembership('m')}
   ) member on true
   cross join lateral (
     select case when f.session_id is not null then f.openid_scopes
       else array(select s from unnest(f.openid_scopes) with ordinality u(s, i) where s = any(g.openid_scopes) order by i)
     end as scopes) given
   where f.id = $1 and 'openid' = any(given.scopes)`,
);

/** Values of RFC 8176 where they say the same. A passkey proves that a key is possessed, wherever it is kept. */
const AMR: Readonly<Record<string, string>> = { password: 'pwd', passkey: 'pop' };

/** Returns the claims about the user of an access token and its family; undefined if it was not authorized for `openid`. */
export async function readUserClaims(db: QueryRunner, familyId: string, tokenHash: Buffer) {
  const [row] = await db.query(findFacts, [familyId, tokenHash]);
  return row && presentUser(row);
}

/**
 * Creates the id token (OpenID Connect Core, section 2) that comes with an access token.
 * @param isFirst whether a code was exchanged for it: only then it repeats the `nonce` of the request
 * @returns undefined if the family was not authorized for `openid`
 */
export async function createIdToken(
  services: Services,
  familyId: string,
  { accessToken, isFirst }: { readonly accessToken: string; readonly isFirst: boolean },
): Promise<{ idToken: string; scopes: readonly string[] } | undefined> {
  const [row] = await services.db.query(findFacts, [familyId, hashSecret(accessToken)]);
  if (row === undefined) return undefined;
  const now = Math.floor(Date.now() / 1000);
  const times = Object.values(row.proofs ?? {}).map((at) => Date.parse(at));
  const idToken = await signClaims(services, {
    iss: services.config.baseUrl,
    aud: row.client_id,
    iat: now,
    exp: now + ID_TOKEN_SECONDS,
    ...presentUser(row),
    ...(row.session_id !== null && { sid: row.session_id }),
    ...(times.length > 0 && { auth_time: Math.floor(Math.max(...times) / 1000) }),
    amr: Object.keys(row.proofs ?? {}).map((method) => AMR[method] ?? method),
    at_hash: hash('sha256', accessToken, 'buffer').subarray(0, 16).toString('base64url'),
    ...(isFirst && row.nonce !== null && { nonce: row.nonce }),
  });
  return { idToken, scopes: row.openid_scopes };
}

/** The claims of Core, section 5.1, that the scopes ask for. What the account does not have is left out. */
function presentUser(row: Row): Record<string, unknown> {
  const name = [row.first_name, row.last_name].filter(Boolean).join(' ');
  const claims: Record<string, unknown> = {
    sub: row.account_id,
    roster_team: row.roster_team,
    ...(row.openid_scopes.includes('email') && { email: row.email, email_verified: row.is_verified }),
    ...(row.openid_scopes.includes('profile') && {
      name: name === '' ? null : name,
      given_name: row.first_name,
      family_name: row.last_name,
      picture: row.avatar,
      locale: row.preferred_locale,
    }),
  };
  return Object.fromEntries(Object.entries(claims).filter(([, value]) => value !== null));
}
