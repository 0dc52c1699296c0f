import { query, type QueryRunner } from '../db/query.ts';
import { SCOPES, type Permission, type Scope } from '../entities/index.ts';
import { ProblemError } from '../errors.ts';
import type { ActiveMembership, Principal } from './principal.ts';
import { enforcedScopes } from './scopes.ts';
import { hashSecret, type Secrets } from '../crypto/tokens.ts';

/** Who called, and as which member of the team the call names; or why nobody did. */
export type Authentication =
  | { readonly principal: Principal; readonly membership: ActiveMembership | null; readonly token?: AccessToken }
  | {
      readonly principal: null;
      readonly membership: null;
      readonly refusal: ProblemError;
      readonly signUp?: PendingSignUp;
    };

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

/** What an access token says of itself, beside its grant. */
export type AccessToken = {
  readonly hash: Buffer;
  /** Of the key whose holder alone may use it (RFC 9449). */
  readonly thumbprint: string | null;
  /** A refresh made it a moment ago, and nobody has used it yet. */
  readonly isUnproven: boolean;
};

/** Nobody: every procedure that needs a credential answers with the refusal. */
export const refused = (refusal: ProblemError): Authentication => ({ principal: null, membership: null, refusal });

type MembershipColumns = {
  membership_id: string | null;
  role_id: string;
  role_name: string;
  /** Like all lists here as words, which are quicker to read than arrays. */
  permissions: string;
  team_name: string;
  team_slug: string;
  team_description: string | null;
  team_avatar_url: string | null;
};

// A membership counts only while it is active: everybody else sees what a stranger sees.
const MEMBERSHIP_COLUMNS = `m.id as membership_id, r.id as role_id, r.name as role_name,
    array_to_string(r.permissions, ' ') as permissions,
    t.name as team_name, t.slug as team_slug, t.description as team_description, t.avatar_url as team_avatar_url`;
const ACTIVE = 'm.is_active and (m.expires_at is null or m.expires_at > now())';

/**
 * Declares how a credential is found: by one statement that gives the membership as well, where the
 * request names a team, and by one that visits half the tables where it names none.
 */
function credentialLookup<Row extends { account_id: string }>(
  name: string,
  { columns, from, where, reach = '' }: { columns: string; from: string; where: string; reach?: string },
) {
  const alone = query<Row>(name, `select ${columns} from ${from} where ${where} and a.disabled_at is null`);
  const inTeam = query<Row & MembershipColumns>(
    `${name}_in_team`,
    `select ${columns}, ${MEMBERSHIP_COLUMNS}
     from ${from}
     left join membership m on m.account_id = a.id and m.team_id = $2 and ${ACTIVE} ${reach}
     left join role r on r.id = m.role_id
     left join team t on t.id = m.team_id
     where ${where} and a.disabled_at is null`,
  );
  return async (db: QueryRunner, hash: Buffer, teamId: string | null) => {
    if (teamId === null) {
      const [row] = await db.query(alone, [hash]);
      return row && { row, membership: null };
    }
    const [row] = await db.query(inTeam, [hash, teamId]);
    return row && { row, membership: toMembership(row, row.account_id, teamId) };
  };
}

const findApiKey = credentialLookup<{ key_id: string; account_id: string; team_id: string | null; scopes: string }>(
  'authenticate_api_key',
  {
    columns: `k.id as key_id, k.account_id, k.team_id, array_to_string(k.scopes, ' ') as scopes`,
    from: `api_key_secret s join api_key k on k.id = s.api_key_id join account a on a.id = k.account_id`,
    where: `s.secret_hash = $1 and (s.expires_at is null or s.expires_at > now())
      and k.revoked_at is null and (k.expires_at is null or k.expires_at > now())`,
    reach: 'and (k.team_id is null or k.team_id = m.team_id)',
  },
);

type TokenRow = {
  grant_id: string;
  account_id: string;
  team_id: string | null;
  token_scopes: string;
  grant_scopes: string;
  thumbprint: string | null;
  is_unproven: boolean;
};

// `is_unproven`: made by a refresh whose answer may still be asked for again, unless the token is used.
const findAccessToken = credentialLookup<TokenRow>('authenticate_access_token', {
  columns: `g.id as grant_id, g.account_id, g.team_id, array_to_string(k.scopes, ' ') as token_scopes,
    array_to_string(g.scopes, ' ') as grant_scopes, k.thumbprint,
    k.used_at is null and k.created_at > now() - interval '30 seconds' and k.payload->>'gty' like '%refresh_token'
      as is_unproven`,
  from: 'oauth_token k join oauth_grant g on g.id = k.grant_id join account a on a.id = g.account_id',
  where: `k.token_hash = $1 and k.kind = 'access' and k.expires_at > now()
    and g.revoked_at is null and g.expires_at > now()`,
  reach: 'and (g.team_id is null or g.team_id = m.team_id)',
});

const findSession = credentialLookup<{ session_id: string; account_id: string }>('authenticate_session', {
  columns: 's.id as session_id, s.account_id',
  from: 'session s join account a on a.id = s.account_id',
  where: `s.token_hash = $1 and s.revoked_at is null and s.expires_at > now() and s.idle_expires_at > now()`,
});

// Only for a token that is no session's, so that a signed-in request pays nothing for it.
const findSignUp = query<PendingSignUp>(
  'authenticate_sign_up',
  `select id, account_id as "accountId", email, first_name as "firstName", last_name as "lastName",
     created_at as "createdAt", expires_at as "expiresAt"
   from sign_up_attempt where session_token_hash = $1 and expires_at > now()`,
);

const findMembership = query<MembershipColumns>(
  'find_active_membership',
  `select ${MEMBERSHIP_COLUMNS}
   from membership m
   join role r on r.id = m.role_id
   join team t on t.id = m.team_id
   where m.account_id = $1 and m.team_id = $2 and ${ACTIVE}`,
);

/**
 * Resolves a bearer string and, in the same statement, the caller's membership of `teamId`.
 * A string that is no secret of ours is refused without a look-up; unknown, expired, revoked and
 * disabled are one answer, because the outside must not tell them apart.
 */
export async function authenticate(
  db: QueryRunner,
  secrets: Secrets,
  bearer: string | undefined,
  teamId: string | null,
): Promise<Authentication> {
  if (bearer === undefined) return refused(new ProblemError('credential_missing'));
  const kind = secrets.kindOf(bearer);
  if (kind === 'personalKey' || kind === 'teamKey') return byApiKey(db, hashSecret(bearer), teamId);
  if (kind === 'accessToken') return byAccessToken(db, hashSecret(bearer), teamId);
  return refused(new ProblemError('credential_invalid'));
}

async function byApiKey(db: QueryRunner, hash: Buffer, teamId: string | null): Promise<Authentication> {
  const found = await findApiKey(db, hash, teamId);
  if (found === undefined) return refused(new ProblemError('credential_invalid'));
  const { row, membership } = found;
  const principal: Principal = {
    kind: 'api-key',
    credentialId: row.key_id,
    accountId: row.account_id,
    teamId: row.team_id,
    scopes: wordsOf<Scope>(row.scopes),
  };
  return { principal, membership };
}

async function byAccessToken(db: QueryRunner, hash: Buffer, teamId: string | null): Promise<Authentication> {
  const found = await findAccessToken(db, hash, teamId);
  if (found === undefined) return refused(new ProblemError('credential_invalid'));
  const { row, membership } = found;
  const principal: Principal = {
    kind: 'oauth-grant',
    credentialId: row.grant_id,
    accountId: row.account_id,
    teamId: row.team_id,
    scopes: enforcedScopes(wordsOf(row.token_scopes), wordsOf(row.grant_scopes), row.team_id),
  };
  return {
    principal,
    membership,
    token: { hash, thumbprint: row.thumbprint, isUnproven: row.is_unproven },
  };
}

/** Resolves the token of a session cookie. A session acts for the whole account, with all scopes. */
export async function authenticateSession(
  db: QueryRunner,
  secrets: Secrets,
  token: string,
  teamId: string | null,
): Promise<Authentication> {
  if (secrets.kindOf(token) !== 'session') return refused(new ProblemError('credential_invalid'));
  const found = await findSession(db, hashSecret(token), teamId);
  if (found === undefined) {
    const [signUp] = await db.query(findSignUp, [hashSecret(token)]);
    return signUp === undefined
      ? refused(new ProblemError('credential_invalid'))
      : { principal: null, membership: null, refusal: new ProblemError('email_not_verified'), signUp };
  }
  const { row, membership } = found;
  const principal: Principal = {
    kind: 'session',
    credentialId: row.session_id,
    accountId: row.account_id,
    teamId: null,
    scopes: SCOPES,
  };
  return { principal, membership };
}

/**
 * The caller's active membership of a team, or null for a team that does not exist, that the
 * account is no active member of, or that a team credential does not reach: nobody can tell which.
 */
export async function findActiveMembership(
  db: QueryRunner,
  principal: Principal,
  teamId: string,
): Promise<ActiveMembership | null> {
  if (principal.teamId !== null && principal.teamId !== teamId) return null;
  const [row] = await db.query(findMembership, [principal.accountId, teamId]);
  return row === undefined ? null : toMembership(row, principal.accountId, teamId);
}

function toMembership(row: MembershipColumns, accountId: string, teamId: string): ActiveMembership | null {
  if (row.membership_id === null) return null;
  return {
    id: row.membership_id,
    accountId,
    role: { id: row.role_id, name: row.role_name },
    permissions: wordsOf<Permission>(row.permissions),
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

/** What `array_to_string` made of a list. Credentials with the same scopes share one array: there are few such lists. */
function wordsOf<Word extends string>(text: string): readonly Word[] {
  const known = lists.get(text);
  if (known !== undefined) return known as readonly Word[]; // CHECK constraints hold the columns to their words
  const words = text === '' ? [] : text.split(' ');
  lists.set(text, words);
  return words as Word[];
}
