import type { QueryRunner } from '../db/query.ts';
import { SCOPES, type ProductPermission, type Resource, type Scope } from '../entities/index.ts';
import { ProblemError } from '../problems/error.ts';
import type { ActiveMembership, OperatorPrincipal, Principal } from './principal.ts';
import {
  findApiKey,
  findAccessToken,
  findSession,
  findSignUp,
  findMembership,
  splitList,
  toMembership,
  type ApiKeyRow,
  type PendingSignUp,
  type SessionRow,
  type TokenRow,
} from './find-credential.ts';
import { enforcedScopes } from './scopes.ts';
import { hashSecret, type Tokens } from '../crypto/tokens.ts';

/** The caller and its membership of the team named in the request, or the error of its credential. */
export type Authentication =
  | { readonly principal: Principal; readonly membership: ActiveMembership | null; readonly token?: AccessToken }
  | {
      readonly principal: null;
      readonly membership: null;
      readonly refusal: ProblemError;
      readonly signUp?: PendingSignUp;
      /** The caller of the operator API. Everything else responds with `refusal`. */
      readonly operator?: OperatorPrincipal;
    };

/** The properties of an access token that its grant does not have. */
export type AccessToken = {
  readonly hash: Buffer;
  /** The thumbprint of the key that the token is bound to (RFC 9449). */
  readonly thumbprint: string | null;
  /** The team in which the user of a first-party token works. */
  readonly activeTeamId: string | null;
  /** Whether a recent refresh issued it and it was not used yet. */
  readonly isUnproven: boolean;
};

/** An unauthenticated result. Procedures that require a credential respond with its error. */
export const unauthenticated = (refusal: ProblemError) => ({ principal: null, membership: null, refusal }) as const;

/** Returns who called, for logs and events: an account's credential or an operator key. */
export const callerOf = (authentication: Authentication): Principal | OperatorPrincipal | null =>
  authentication.principal ?? authentication.operator ?? null;

/**
 * Resolves a bearer string and, in the same statement, the caller's membership of `teamId`. A string that is not one
 * of our tokens is rejected without a look-up. Unknown, expired, revoked and disabled credentials, and access tokens
 * for another resource, give the same error, so that a client cannot tell them apart.
 */
export async function authenticate(
  db: QueryRunner,
  tokens: Tokens,
  bearer: string | undefined,
  teamId: string | null,
  resource: Resource = 'api',
): Promise<Authentication> {
  if (bearer === undefined) return unauthenticated(new ProblemError('credential_missing'));
  const kind = tokens.parseKind(bearer);
  if (kind === 'personalKey' || kind === 'teamKey') return authenticateApiKey(db, hashSecret(bearer), teamId);
  if (kind === 'accessToken') return authenticateAccessToken(db, hashSecret(bearer), teamId, resource);
  return unauthenticated(new ProblemError('credential_invalid'));
}

async function authenticateApiKey(db: QueryRunner, hash: Buffer, teamId: string | null): Promise<Authentication> {
  const found = await findApiKey(db, hash, teamId);
  if (found === undefined) return unauthenticated(new ProblemError('credential_invalid'));
  return { principal: toKeyPrincipal(found.row), membership: found.membership };
}

export const toKeyPrincipal = (row: ApiKeyRow): Principal => ({
  kind: 'api-key',
  credentialId: row.key_id,
  accountId: row.account_id,
  teamId: row.team_id,
  clientId: row.client_id,
  scopes: splitList<Scope>(row.scopes),
  productLimit: splitList<ProductPermission>(row.product_limit),
});

async function authenticateAccessToken(
  db: QueryRunner,
  hash: Buffer,
  teamId: string | null,
  resource: Resource,
): Promise<Authentication> {
  const found = await findAccessToken(db, hash, teamId);
  if (found?.row.resource !== resource) return unauthenticated(new ProblemError('credential_invalid'));
  const { row, membership } = found;
  return {
    principal: toGrantPrincipal(row),
    membership,
    token: { hash, thumbprint: row.thumbprint, activeTeamId: row.active_team_id, isUnproven: row.is_unproven },
  };
}

export const toGrantPrincipal = (row: TokenRow): Principal => ({
  kind: 'oauth-grant',
  credentialId: row.grant_id,
  tokenFamilyId: row.family_id,
  sessionId: row.session_id,
  clientId: row.client_id,
  accountId: row.account_id,
  teamId: row.team_id,
  scopes: enforcedScopes(splitList(row.token_scopes), splitList(row.grant_scopes), row.team_id),
  productLimit: row.session_id === null ? splitList<ProductPermission>(row.product_limit) : null,
});

/** Resolves the token of a session cookie. A session has access to the whole account, with all scopes. */
export async function authenticateSession(
  db: QueryRunner,
  tokens: Tokens,
  token: string,
  teamId: string | null,
): Promise<Authentication> {
  if (tokens.parseKind(token) !== 'session') return unauthenticated(new ProblemError('credential_invalid'));
  const found = await findSession(db, hashSecret(token), teamId);
  if (found === undefined) {
    const [signUp] = await db.query(findSignUp, [hashSecret(token)]);
    return signUp === undefined
      ? unauthenticated(new ProblemError('credential_invalid'))
      : { principal: null, membership: null, refusal: new ProblemError('email_not_verified'), signUp };
  }
  return { principal: toSessionPrincipal(found.row), membership: found.membership };
}

export const toSessionPrincipal = (row: SessionRow): Principal => ({
  kind: 'session',
  credentialId: row.session_id,
  accountId: row.account_id,
  teamId: null,
  scopes: SCOPES,
  productLimit: null,
});

/**
 * Returns the caller's active membership of a team.
 * @returns null if the team does not exist, the account is no active member, or the credential is for another team
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
