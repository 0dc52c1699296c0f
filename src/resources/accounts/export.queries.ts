import { lastProofOf, listProofs, proofsOf } from '../../auth/session-proofs.ts';
import { isoOrNull, query, type Query, type QueryRunner } from '../../db/query.ts';
import type { Proofs } from '../../entities/index.ts';
import { ProblemError } from '../../problems/error.ts';

type Row = Readonly<Record<string, unknown>>;

const section = (name: string, text: string): Query<Row> => query<Row>(name, text, { rows: 'many' });

const account = section(
  'account_export',
  `select id, email, external_id as "externalId", first_name as "firstName", last_name as "lastName", role, avatar,
     preferred_locale as "preferredLocale", email_verified_at as "emailVerifiedAt", proven_email as "provenEmail", created_at as "createdAt",
     updated_at as "updatedAt", disabled_at as "disabledAt", password_hash is not null as "hasPassword",
     public_metadata as "publicMetadata"
   from account where id = $1`,
);

/**
 * What is stored about an account besides its own row, without hashes, keys and the private metadata, which can tell of
 * others: the operator answers for it (docs/metadata.md). Each lists by an index of the account.
 */
const SECTIONS = {
  sessions: section(
    'session_export',
    `select id, authentication_type as "authenticationType", country, city, browser, os, device_type as "deviceType",
       created_at as "createdAt", expires_at as "expiresAt", last_used_at as "lastUsedAt", last_address as "lastAddress",
       ${lastProofOf('session')} as "provenAt", ${proofsOf('session')} as methods, revoked_at as "revokedAt"
     from session where account_id = $1 order by created_at, id`,
  ),
  knownBrowsers: section(
    'known_device_export',
    `select id, created_at as "createdAt", last_seen_at as "lastSeenAt"
     from known_device where account_id = $1 order by created_at, id`,
  ),
  passkeys: section(
    'passkey_export',
    `select id, name, credential_id as "credentialId", transports, created_at as "createdAt",
       last_used_at as "lastUsedAt"
     from passkey where account_id = $1 order by created_at, id`,
  ),
  memberships: section(
    'membership_export',
    `select m.team_id as "teamId", t.name as "teamName", m.role_id as "roleId", r.name as "roleName",
       m.is_active as "isActive", m.joined_at as "joinedAt", m.expires_at as "expiresAt",
       m.public_metadata as "publicMetadata"
     from membership m join team t on t.id = m.team_id join role r on r.id = m.role_id
     where m.account_id = $1 order by m.created_at, m.id`,
  ),
  invitationsSent: section(
    'invitation_export',
    `select id, team_id as "teamId", email, role_id as "roleId", created_at as "createdAt", expires_at as "expiresAt",
       accepted_at as "acceptedAt"
     from invitation where invited_by_id = $1 order by created_at, id`,
  ),
  apiKeys: section(
    'api_key_export',
    `select id, name, team_id as "teamId", key_prefix as "keyPrefix", last4, scopes, created_at as "createdAt",
       last_used_at as "lastUsedAt", expires_at as "expiresAt", revoked_at as "revokedAt"
     from api_key where account_id = $1 order by created_at, id`,
  ),
  apiKeyUses: section(
    'api_key_use_export',
    `select u.api_key_id as "apiKeyId", to_char(u.day, 'YYYY-MM-DD') as day, u.requests::float8 as requests, u.address
     from api_key k join api_key_use u on u.api_key_id = k.id
     where k.account_id = $1 order by u.day, u.api_key_id`,
  ),
  connectedApps: section(
    'oauth_grant_export',
    `select g.id, g.client_id as "clientId", c.name as "clientName", g.team_id as "teamId", g.resource, g.scopes,
       g.created_at as "createdAt", g.last_used_at as "lastUsedAt", g.expires_at as "expiresAt",
       g.revoked_at as "revokedAt"
     from oauth_grant g join oauth_client c on c.id = g.client_id
     where g.account_id = $1 order by g.created_at, g.id`,
  ),
  oauthClients: section(
    'oauth_client_export',
    `select id, name, redirect_uris as "redirectUris", is_native as "isNative", is_confidential as "isConfidential",
       created_at as "createdAt"
     from oauth_client where account_id = $1 order by created_at, id`,
  ),
} as const;

type SectionName = keyof typeof SECTIONS;

/** Returns what is stored about an account, except its events. @throws credential_invalid if it was deleted meanwhile */
export async function exportAccount(db: QueryRunner, accountId: string) {
  const [own] = await db.query(account, [accountId]);
  if (own === undefined) throw new ProblemError('credential_invalid');
  const sections: Partial<Record<SectionName, Row[]>> = {};
  // One after another, because each takes a connection of long lists.
  for (const [name, rowsOf] of Object.entries(SECTIONS))
    sections[name as SectionName] = (await db.query(rowsOf, [accountId])).map(withIsoTimes); // its keys
  return { account: withIsoTimes(own), ...(sections as Record<SectionName, Row[]>) }; // all are set
}

const withIsoTimes = (row: Row): Row =>
  Object.fromEntries(Object.entries(row).map(([name, value]) => [name, withIsoTime(name, value)]));

function withIsoTime(name: string, value: unknown): unknown {
  if (name === 'methods') return listProofs(value as Proofs); // as the query returns them
  return name.endsWith('At') && (typeof value === 'string' || value === null) ? isoOrNull(value) : value;
}
