import { isoOrNull, query, type QueryRunner } from '../db/query.ts';
import { EXTERNAL_ID_PREFIX, type Permission, type ProductPermission, type Resource } from '../entities/index.ts';
import { hashSecret, type SecretKind, type Tokens } from '../crypto/tokens.ts';
import {
  findActiveMembership,
  toGrantPrincipal,
  toKeyPrincipal,
  toSessionPrincipal,
  type AccessToken,
} from './authenticate.ts';
import {
  ACCESS_TOKEN_SOURCE,
  API_KEY_SOURCE,
  joinRequestedMembership,
  SESSION_SOURCE,
  splitList,
  type ApiKeyRow,
  type CredentialSource,
  type SessionRow,
  type TokenRow,
} from './find-credential.ts';
import {
  ACCOUNT_METADATA,
  MEMBERSHIP_METADATA,
  toDescribedMetadata,
  type DescribedMetadata,
  type MetadataColumns,
} from './described-metadata.ts';
import { operatorKeyLookup, type OperatorKeyRow } from './operator.ts';
import type { ActiveMembership, Principal } from './principal.ts';

type DescribedMembership = Pick<ActiveMembership, 'role' | 'permissions' | 'productPermissions'> & {
  readonly team: Pick<ActiveMembership['team'], 'id' | 'name' | 'slug'>;
};

/** A valid credential, with the account behind it and its membership of one team. */
export type DescribedCredential = {
  readonly principal: Principal;
  /** Of the team that was asked for, else of the credential's own; undefined if it was not read: see `findMembershipOf`. */
  readonly membership: DescribedMembership | null | undefined;
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
  /** Undefined unless it was asked for. */
  readonly metadata: DescribedMetadata | undefined;
};

type DetailColumns = Partial<MetadataColumns> & {
  email: string;
  first_name: string | null;
  last_name: string | null;
  external_id: string | null;
  expires_at: string | null;
  client_id: string | null;
  key_grant_id: string | null;
  /** Absent from look-ups without a team, like the columns after it. */
  member_team_id?: string | null;
  role_id: string;
  role_name: string;
  permissions: string;
  /** Null for all that the credential is limited to. */
  product_permissions: string | null;
  product_limit?: string;
  team_name: string;
  team_slug: string;
};

type Described<Row> = Row & { account_id: string } & DetailColumns;
/** All columns of the credential are null if there is none. */
type WithOperatorKey<Row> = OperatorKeyRow & (Described<Row> | { account_id: null });

const EXTERNAL = `'${EXTERNAL_ID_PREFIX}'`;
/** The team of `$2`, which is an id, or an external id with its prefix; without one, that of the credential. */
const teamOr = (ownTeam: string): string =>
  `case when starts_with($2::text, ${EXTERNAL})
     then (select id from team where external_id = substr($2::text, ${EXTERNAL_ID_PREFIX.length + 1}))
     else coalesce($2::text, ${ownTeam}) end`;

/** Declares a look-up by `$1`, also together with that of an operator key by the last parameter. */
function declare<Row>(kind: string, suffix: string, text: string, operatorHash: string) {
  return {
    alone: query<Described<Row>>(`${kind}_describe${suffix}`, text),
    withOperatorKey: query<WithOperatorKey<Row>>(
      `${kind}_verify${suffix}`,
      `select * from (${operatorKeyLookup(operatorHash)}) operator left join (${text}) credential on true`,
    ),
  };
}

/** Declares the look-up of a kind, and the one with the membership of `teamOr`, which takes PostgreSQL half as long again. */
function describe<Row>(kind: string, source: CredentialSource, ownTeam: string, details: string) {
  const columns = `${source.columns}, ${details}, a.email, a.first_name, a.last_name, a.external_id`;
  const where = `${source.where} and a.disabled_at is null`;
  return {
    withoutTeam: declare<Row>(kind, '', `select ${columns} from ${source.from} where ${where}`, '$2'),
    inTeam: declare<Row>(
      kind,
      '_in_team',
      `select ${columns}, member.*
       from ${source.from}
       ${joinRequestedMembership(teamOr(ownTeam), source)}
       where ${where}`,
      '$3',
    ),
    /** The same with metadata. A credential without a team has none of a membership. */
    withMetadata: declare<Row>(
      kind,
      '_with_metadata',
      `select ${columns}, ${ACCOUNT_METADATA}, member.*
       from ${source.from}
       ${joinRequestedMembership(teamOr(ownTeam), source, MEMBERSHIP_METADATA)}
       where ${where}`,
      '$3',
    ),
  };
}

const describeApiKey = describe<ApiKeyRow>(
  'api_key',
  API_KEY_SOURCE,
  'k.team_id',
  'least(k.expires_at, s.expires_at) as expires_at, g.id as key_grant_id',
);
const describeAccessToken = describe<TokenRow>(
  'oauth_token',
  ACCESS_TOKEN_SOURCE,
  // A first-party token is for all teams of its account, and says in which its user works.
  'coalesce(g.team_id, k.active_team_id)',
  'k.expires_at, null as key_grant_id',
);
const describeSession = describe<SessionRow>(
  'session',
  SESSION_SOURCE,
  'null',
  'least(s.expires_at, s.idle_expires_at) as expires_at, null as key_grant_id, null as client_id',
);

type Asked = {
  /** The accepted kinds. */
  readonly kinds: readonly Principal['kind'][];
  /** An id, or `ext:` and an external id; null for the team of a team credential. */
  readonly teamId: string | null;
  /** Whether the metadata is read with it. */
  readonly hasMetadata?: boolean | undefined;
};

/** A look-up of a credential: one statement, alone or together with that of an operator key. */
export type CredentialLookup = {
  run(db: QueryRunner): Promise<DescribedCredential | undefined>;
  /** @returns the operator key, if it is valid, and the credential, if that is too */
  runWithOperatorKey(
    db: QueryRunner,
    operatorHash: Buffer,
  ): Promise<{
    readonly operatorKey: OperatorKeyRow | undefined;
    readonly credential: DescribedCredential | undefined;
  }>;
};

/**
 * Prepares the look-up of a credential with what it is good for.
 * @returns undefined for a secret of another kind or format, which no statement would find
 */
export function prepareLookup(
  tokens: Tokens,
  secret: string,
  { kinds, teamId, hasMetadata = false }: Asked,
): CredentialLookup | undefined {
  const secretKind = tokens.parseKind(secret);
  const kind = secretKind === undefined ? undefined : KINDS[secretKind];
  if (kind === undefined || !kinds.includes(kind)) return undefined;
  const hash = hashSecret(secret);
  const isInTeam = hasMetadata || teamId !== null || secretKind === 'teamKey';
  const using = <Row>(
    { withoutTeam, inTeam, withMetadata }: ReturnType<typeof describe<Row>>,
    present: (row: Described<Row>) => DescribedCredential,
  ): CredentialLookup => {
    const { alone, withOperatorKey } = hasMetadata ? withMetadata : isInTeam ? inTeam : withoutTeam;
    const values = isInTeam ? [hash, teamId] : [hash];
    return {
      async run(db) {
        const [row] = await db.query(alone, values);
        return row && present(row);
      },
      async runWithOperatorKey(db, operatorHash) {
        const [row] = await db.query(withOperatorKey, [...values, operatorHash]);
        return {
          operatorKey: row,
          credential: row === undefined || row.account_id === null ? undefined : present(row),
        };
      },
    };
  };
  if (kind === 'api-key') {
    return using(describeApiKey, (row) => ({
      ...toDetails(row),
      principal: toKeyPrincipal(row),
      grantId: row.key_grant_id,
    }));
  }
  if (kind === 'session')
    return using(describeSession, (row) => ({ ...toDetails(row), principal: toSessionPrincipal(row) }));
  return using(describeAccessToken, (row) => ({
    ...toDetails(row),
    principal: toGrantPrincipal(row),
    grantId: row.grant_id,
    resource: row.resource,
    token: { hash, thumbprint: row.thumbprint, activeTeamId: row.active_team_id, isUnproven: row.is_unproven },
  }));
}

const KINDS: Partial<Record<SecretKind, Principal['kind']>> = {
  personalKey: 'api-key',
  teamKey: 'api-key',
  accessToken: 'oauth-grant',
  session: 'session',
};

/**
 * Returns the membership of a credential in the team that was asked for, else in its own or its active one. Only what a look-up without
 * a team has found to be of a team needs a statement: the secret of an access token does not tell.
 */
export async function findMembershipOf(
  db: QueryRunner,
  { principal, membership, token }: Pick<DescribedCredential, 'principal' | 'membership' | 'token'>,
): Promise<DescribedMembership | null> {
  if (membership !== undefined) return membership;
  const teamId = principal.teamId ?? token?.activeTeamId ?? null;
  return teamId === null ? null : findActiveMembership(db, principal, teamId);
}

const toDetails = (row: DetailColumns & { readonly account_id: string }) => ({
  membership: toDescribedMembership(row),
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
  metadata: toDescribedMetadata(row),
});

function toDescribedMembership(row: DetailColumns): DescribedMembership | null | undefined {
  const { member_team_id: teamId } = row;
  if (typeof teamId !== 'string') return teamId;
  return {
    role: { id: row.role_id, name: row.role_name },
    permissions: splitList<Permission>(row.permissions),
    productPermissions: splitList<ProductPermission>(row.product_permissions ?? row.product_limit ?? ''),
    team: { id: teamId, name: row.team_name, slug: row.team_slug },
  };
}
