import { isoOrNull, query, type Query, type QueryRunner } from '../db/query.ts';
import type { Resource } from '../entities/index.ts';
import { hashSecret, type SecretKind, type Tokens } from '../crypto/tokens.ts';
import { toGrantPrincipal, toKeyPrincipal, toSessionPrincipal, type AccessToken } from './authenticate.ts';
import {
  ACCESS_TOKEN_SOURCE,
  API_KEY_SOURCE,
  joinMembership,
  MEMBERSHIP_COLUMNS,
  SESSION_SOURCE,
  toMembership,
  type ApiKeyRow,
  type CredentialSource,
  type MembershipColumns,
  type SessionRow,
  type TokenRow,
} from './credential-lookups.ts';
import type { ActiveMembership, Principal } from './principal.ts';

/** A valid credential, with the account behind it and its membership of one team. */
export type DescribedCredential = {
  readonly principal: Principal;
  /** Of the team that was asked for, else of the credential's own. */
  readonly membership: ActiveMembership | null;
  readonly account: {
    readonly id: string;
    readonly email: string;
    readonly firstName: string | null;
    readonly lastName: string | null;
    readonly externalId: string | null;
  };
  readonly expiresAt: string | null;
  /** The grant behind it, and its client. */
  readonly grantId: string | null;
  readonly clientId: string | null;
  /** What an access token was issued for. */
  readonly resource: Resource | null;
  readonly token: AccessToken | null;
};

type DetailColumns = MembershipColumns & {
  email: string;
  first_name: string | null;
  last_name: string | null;
  external_id: string | null;
  expires_at: string | null;
  member_team_id: string;
  client_id: string | null;
  key_grant_id: string | null;
};

const describe = <Row>(name: string, source: CredentialSource, ownTeam: string, details: string) =>
  query<Row & DetailColumns>(
    name,
    `select ${source.columns}, ${details}, a.email, a.first_name, a.last_name, a.external_id,
       ${MEMBERSHIP_COLUMNS}, m.team_id as member_team_id
     from ${source.from}
     ${joinMembership(`coalesce($2::text, ${ownTeam})`, source)}
     where ${source.where} and a.disabled_at is null`,
  );

const describeApiKey = describe<ApiKeyRow>(
  'describe_api_key',
  API_KEY_SOURCE,
  'k.team_id',
  'least(k.expires_at, s.expires_at) as expires_at, g.id as key_grant_id, g.client_id',
);
const describeAccessToken = describe<TokenRow>(
  'describe_access_token',
  ACCESS_TOKEN_SOURCE,
  'g.team_id',
  'k.expires_at, null as key_grant_id, g.client_id',
);
const describeSession = describe<SessionRow>(
  'describe_session',
  SESSION_SOURCE,
  'null',
  'least(s.expires_at, s.idle_expires_at) as expires_at, null as key_grant_id, null as client_id',
);

/**
 * Finds a credential with what it is good for, in one statement.
 * @param kinds the accepted kinds
 * @returns undefined for one that is not valid, for whatever reason
 */
export async function describeCredential(
  db: QueryRunner,
  tokens: Tokens,
  secret: string,
  { kinds, teamId }: { readonly kinds: readonly Principal['kind'][]; readonly teamId: string | null },
): Promise<DescribedCredential | undefined> {
  const secretKind = tokens.parseKind(secret);
  const kind = secretKind === undefined ? undefined : KINDS[secretKind];
  if (kind === undefined || !kinds.includes(kind)) return undefined;
  const hash = hashSecret(secret);
  const find = async <Row>(statement: Query<Row>) => (await db.query(statement, [hash, teamId]))[0];
  if (kind === 'api-key') {
    const row = await find(describeApiKey);
    return row && { ...toDetails(row), principal: toKeyPrincipal(row), grantId: row.key_grant_id };
  }
  if (kind === 'session') {
    const row = await find(describeSession);
    return row && { ...toDetails(row), principal: toSessionPrincipal(row) };
  }
  const row = await find(describeAccessToken);
  return (
    row && {
      ...toDetails(row),
      principal: toGrantPrincipal(row),
      grantId: row.grant_id,
      resource: row.resource,
      token: { hash, thumbprint: row.thumbprint, isUnproven: row.is_unproven },
    }
  );
}

const KINDS: Partial<Record<SecretKind, Principal['kind']>> = {
  personalKey: 'api-key',
  teamKey: 'api-key',
  accessToken: 'oauth-grant',
  session: 'session',
};

const toDetails = (row: DetailColumns & { readonly account_id: string }) => ({
  membership: toMembership(row, row.account_id, row.member_team_id),
  account: {
    id: row.account_id,
    email: row.email,
    firstName: row.first_name,
    lastName: row.last_name,
    externalId: row.external_id,
  },
  expiresAt: isoOrNull(row.expires_at),
  grantId: null,
  clientId: row.client_id,
  resource: null,
  token: null,
});
