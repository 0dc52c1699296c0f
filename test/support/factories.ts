import { randomBytes } from 'node:crypto';
import { sortScopes } from '../../src/auth/scopes.ts';
import { newId, OPERATOR_SCOPES, type OperatorScope, type Permission, type Scope } from '../../src/entities/index.ts';
import type { Services } from '../../src/service/services.ts';

export type AnAccount = { readonly id: string; readonly email: string };
export type ATeam = { readonly id: string; readonly name: string; readonly slug: string };
export type AClient = { readonly id: string; readonly redirectUri: string; readonly clientSecret: string | null };
/** `secret` is an access token. */
export type AGrant = { readonly id: string; readonly secret: string; readonly clientId: string };
export type AKey = { readonly id: string; readonly secret: string };

type MemberOptions = { role?: string; active?: boolean; expiresAt?: Date | null };
type KeyOptions = { scopes?: readonly Scope[]; team?: { id: string }; expiresAt?: Date; revoked?: boolean };
type OperatorKeyOptions = {
  name?: string;
  scopes?: readonly OperatorScope[];
  addresses?: readonly string[];
  expiresAt?: Date;
  revoked?: boolean;
};

type ClientOptions = {
  name?: string;
  redirectUri?: string;
  native?: boolean;
  confidential?: boolean;
  owner?: { id: string };
  /** The scopes of a first-party client. */
  firstParty?: readonly Scope[];
  development?: boolean;
  homeUrl?: string | null;
  initiateLoginUri?: string | null;
};
type GrantOptions = {
  scopes?: readonly Scope[];
  /** Of the token, where the grant holds others. */
  tokenScopes?: readonly Scope[];
  team?: { id: string };
  client?: { id: string };
  expiresAt?: Date;
};

/** Digits alone: a name that a test looks for is not in it by chance. */
const anEmail = () => `${process.hrtime.bigint()}@example.com`;

/** Makes rows with unique ids. Defaults are the least privilege; a test states every privilege it relies on. */
export function factoriesOf({ db, tokens }: Services) {
  const run = (sql: string, values: readonly unknown[]) => db.run({ kind: 'command', name: '', text: sql }, values);
  const rows = <Row>(sql: string, values: readonly unknown[] = []) =>
    db.run<Row>({ kind: 'command', name: '', text: sql }, values);

  async function anAccount(
    fields: { email?: string; firstName?: string; lastName?: string; preferredLocale?: string | null } = {},
  ): Promise<AnAccount> {
    const id = newId('acc');
    const email = fields.email ?? anEmail();
    await run(
      `insert into account (id, email, first_name, last_name, preferred_locale, role, email_verified_at, created_at, updated_at)
       values ($1, $2, $3, $4, $5, 'user', now(), now(), now())`,
      [id, email, fields.firstName ?? null, fields.lastName ?? null, fields.preferredLocale ?? null],
    );
    return { id, email };
  }

  async function aTeam({ owner, name = 'A team' }: { owner?: { id: string }; name?: string } = {}): Promise<ATeam> {
    const id = newId('team');
    const slug = id.replace('_', '-');
    await run(`insert into team (id, name, slug, created_at, updated_at) values ($1, $2, $3, now(), now())`, [
      id,
      name,
      slug,
    ]);
    if (owner !== undefined) await aMember({ id }, owner, { role: 'owner' });
    return { id, name, slug };
  }

  async function aMember(
    team: { id: string },
    account: { id: string },
    { role = 'guest', active = true, expiresAt = null }: MemberOptions = {},
  ) {
    const id = newId('mem');
    await run(
      `insert into membership (id, team_id, account_id, role_id, is_active, expires_at, joined_at, created_at)
       values ($1, $2, $3, $4, $5, $6, now(), now())`,
      [id, team.id, account.id, role, active, expiresAt],
    );
    return { id };
  }

  async function aRole(team: { id: string }, permissions: readonly Permission[]): Promise<{ id: string }> {
    const id = newId('role');
    await run(`insert into role (id, team_id, name, permissions, created_at) values ($1, $2, $1, $3, now())`, [
      id,
      team.id,
      permissions,
    ]);
    return { id };
  }

  async function anApiKey(
    account: { id: string },
    { scopes = ['teams:read'], team, expiresAt, revoked = false }: KeyOptions = {},
  ): Promise<AKey> {
    const id = newId('key');
    const { secret, hash, keyPrefix, last4 } = tokens.generate(team === undefined ? 'personalKey' : 'teamKey');
    await run(
      `insert into api_key (id, account_id, team_id, name, scopes, key_prefix, last4, expires_at, revoked_at, created_at)
       values ($1, $2, $3, 'A key', $4, $5, $6, $7, $8, now())`,
      [
        id,
        account.id,
        team?.id ?? null,
        sortScopes(scopes),
        keyPrefix,
        last4,
        expiresAt ?? null,
        revoked ? new Date() : null,
      ],
    );
    await run(`insert into api_key_secret (secret_hash, api_key_id, created_at) values ($1, $2, now())`, [hash, id]);
    return { id, secret };
  }

  async function anOperatorKey({
    name = 'An operator key',
    scopes = OPERATOR_SCOPES,
    addresses = [],
    expiresAt,
    revoked = false,
  }: OperatorKeyOptions = {}): Promise<AKey> {
    const id = newId('opk');
    const { secret, hash, keyPrefix, last4 } = tokens.generate('operatorKey');
    await run(
      `insert into operator_key (id, name, scopes, addresses, key_prefix, last4, expires_at, revoked_at, created_at)
       values ($1, $8, $2, $3, $4, $5, $6, $7, now())`,
      [id, scopes, addresses, keyPrefix, last4, expiresAt ?? null, revoked ? new Date() : null, name],
    );
    await run(`insert into operator_key_secret (secret_hash, operator_key_id, created_at) values ($1, $2, now())`, [
      hash,
      id,
    ]);
    return { id, secret };
  }

  async function anOAuthClient({
    name = 'A client',
    redirectUri = 'https://client.example/callback',
    native = false,
    confidential = false,
    owner,
    firstParty,
    development = false,
    homeUrl = null,
    initiateLoginUri = null,
  }: ClientOptions = {}): Promise<AClient> {
    const id = newId('client');
    await run(
      `insert into oauth_client (id, source, account_id, name, redirect_uris, is_native, is_confidential, is_first_party, scopes, is_development, home_url, initiate_login_uri, created_at)
       values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, now())`,
      [
        id,
        owner ? 'account' : 'operator',
        owner?.id ?? null,
        name,
        [redirectUri],
        native,
        confidential,
        firstParty !== undefined,
        firstParty ?? null,
        development,
        homeUrl,
        initiateLoginUri,
      ],
    );
    if (!confidential) return { id, redirectUri, clientSecret: null };
    const { secret, hash, last4 } = tokens.generate('clientSecret');
    await run(
      `insert into oauth_client_secret (secret_hash, client_id, last4, created_at) values ($1, $2, $3, now())`,
      [hash, id, last4],
    );
    return { id, redirectUri, clientSecret: secret };
  }

  /** A grant with an access token, as consent and the token endpoint make them. */
  async function aGrant(
    account: { id: string },
    { scopes = ['teams:read'], tokenScopes = scopes, team, client, expiresAt }: GrantOptions = {},
  ): Promise<AGrant> {
    const id = newId('grant');
    const clientId = client?.id ?? (await anOAuthClient()).id;
    await run(
      `insert into oauth_grant (id, account_id, client_id, audience, team_id, scopes, created_at, expires_at)
       values ($1, $2, $3, $4, $5, $6, now(), $7)`,
      [
        id,
        account.id,
        clientId,
        team === undefined ? 'personal' : 'team',
        team?.id ?? null,
        sortScopes(scopes),
        expiresAt ?? new Date(Date.now() + 90 * 86_400_000),
      ],
    );
    const { secret, hash } = tokens.generate('accessToken');
    await run(
      `insert into oauth_token (token_hash, kind, grant_id, scopes, payload, created_at, expires_at)
       values ($1, 'access', $2, $3, '{}', now(), now() + interval '1 hour')`,
      [hash, id, sortScopes(tokenScopes)],
    );
    return { id, secret, clientId };
  }

  async function aSession(
    account: { id: string },
    fields: { createdAt?: Date; expiresAt?: Date; browser?: string } = {},
  ): Promise<{ id: string }> {
    const id = newId('ses');
    await run(
      `insert into session (id, account_id, token_hash, authentication_type, browser, created_at, expires_at, idle_expires_at)
       values ($1, $2, $3, 'password', $4, $5, $6, $6)`,
      [
        id,
        account.id,
        randomBytes(32),
        fields.browser ?? null,
        fields.createdAt ?? new Date(),
        fields.expiresAt ?? new Date(Date.now() + 86_400_000),
      ],
    );
    return { id };
  }

  async function anInvitation(
    team: { id: string },
    fields: { email?: string; role?: string; expiresAt?: Date; acceptedAt?: Date } = {},
  ) {
    const id = newId('invt');
    const email = fields.email ?? anEmail();
    await run(
      `insert into invitation (id, team_id, email, role_id, created_at, expires_at, accepted_at) values ($1, $2, $3, $4, now(), $5, $6)`,
      [
        id,
        team.id,
        email,
        fields.role ?? 'member',
        fields.expiresAt ?? new Date(Date.now() + 86_400_000),
        fields.acceptedAt ?? null,
      ],
    );
    return { id, email };
  }

  async function aSubscription(team: { id: string }, fields: { plan?: string; seats?: number } = {}) {
    await run(
      `insert into subscription (team_id, plan_id, status, "interval", addons) values ($1, $2, 'active', 'month', $3)`,
      [team.id, fields.plan ?? 'pro', JSON.stringify(fields.seats === undefined ? {} : { seats: fields.seats })],
    );
  }

  return {
    anAccount,
    aTeam,
    aMember,
    aRole,
    anApiKey,
    anOperatorKey,
    anOAuthClient,
    aGrant,
    aSession,
    anInvitation,
    aSubscription,
    rows,
  };
}
