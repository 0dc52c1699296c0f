import { defineEntity, p } from '@mikro-orm/core';
import { Account } from './account.ts';
import { base, instant, text } from './base.ts';
import { productPermissions } from './permission-catalogue.ts';
import { quotedScopes, type Scope } from './scope.ts';

/**
 * How a client was created: by the operator, by an account on its developer page, by dynamic registration
 * (RFC 7591), or from a metadata document whose URL is the client id.
 */
export const CLIENT_SOURCES = ['operator', 'account', 'registration', 'document'] as const;
export type ClientSource = (typeof CLIENT_SOURCES)[number];

/** An application that asks users for grants. The id is its `client_id`. */
const OAuthClientSchema = defineEntity({
  name: 'OAuthClient',
  tableName: 'oauth_client',
  properties: {
    ...base('client'),
    source: text().$type<ClientSource>(),
    /** The account whose developer page lists the client. */
    account: () => p.manyToOne(Account).nullable().deleteRule('cascade'),
    name: text(),
    redirectUris: p.array().columnType('text[]').$type<string[]>(),
    /** Runs on user devices: loopback redirects with any port are allowed (RFC 8252). */
    isNative: p.boolean().default(false),
    /** Authenticates with a secret. */
    isConfidential: p.boolean().default(false),
    /**
     * An application of the operator's own: its users see no consent page, and its tokens belong to their sessions. Only
     * the operator sets it.
     */
    isFirstParty: p.boolean().default(false),
    /** The scopes that a first-party client can have, which nobody consents to. Null for all other clients. */
    scopes: p.array().columnType('text[]').$type<Scope[]>().nullable(),
    /** The scopes of OpenID Connect that users can consent to. Null for first-party clients, which can have all, and without any. */
    openidScopes: p.array().columnType('text[]').$type<string[]>().nullable(),
    /** Where a browser can be sent after it was signed out (OpenID Connect RP-Initiated Logout 1.0). */
    postLogoutRedirectUris: p.array().columnType('text[]').$type<string[]>().defaultRaw(`'{}'`),
    /** Where a first-party client is told that a session ended (OpenID Connect Back-Channel Logout 1.0). */
    backchannelLogoutUri: text().nullable(),
    /** How long a session lasts at least after a user signed in for this first-party client. Null for `SESSION_DAYS`. */
    sessionDays: p.integer().nullable(),
    /** Whether token requests of this first-party client, which proves a secret, count toward `OAUTH_CLIENT_LIMIT`. */
    hasTokenLimit: p.boolean().default(false),
    /** Can redirect to `http://localhost`, and its users confirm each authorization. Only the operator sets it. */
    isDevelopment: p.boolean().default(false),
    /** The start page of the application. Only the operator sets both. */
    homeUrl: text().nullable(),
    /** Where the application begins a new request (OpenID Connect Core, section 4). */
    initiateLoginUri: text().nullable(),
    /** The product permissions that it asks its users for, which only the operator sets. */
    productPermissions: productPermissions(),
    /** Other metadata of its registration, by the names of RFC 7591. */
    metadata: p.json<Record<string, unknown>>().default('{}'),
    /** Deletion time of a self-registered client, unless it has a grant. */
    cleanupAt: instant().defaultRaw("(now() + '30 days'::interval)"),
    /** Deletion, from which on it has no access, while its grants are still being removed. It has no account then. */
    deletedAt: instant().nullable(),
  },
  indexes: [
    { name: 'oauth_client_account_index', properties: ['account'] },
    {
      name: 'oauth_client_session_days_index',
      expression:
        'create index "oauth_client_session_days_index" on "oauth_client" ("session_days") where session_days is not null',
    },
    {
      name: 'oauth_client_cleanup_index',
      expression: `create index "oauth_client_cleanup_index" on "oauth_client" ("cleanup_at") where source in ('registration', 'document')`,
    },
    {
      name: 'oauth_client_deleted_index',
      expression: 'create index "oauth_client_deleted_index" on "oauth_client" ("id") where deleted_at is not null',
    },
  ],
  checks: [
    {
      name: 'oauth_client_source_check',
      expression: `source in ('operator', 'account', 'registration', 'document')`,
    },
    {
      name: 'oauth_client_owner_check',
      expression: `(source = 'account') = (account_id is not null) or deleted_at is not null`,
    },
    { name: 'oauth_client_first_party_check', expression: `not is_first_party or source = 'operator'` },
    { name: 'oauth_client_scopes_check', expression: `is_first_party = (scopes is not null)` },
    {
      name: 'oauth_client_openid_check',
      expression: `openid_scopes <@ array['openid', 'profile', 'email'] and 'openid' = any(openid_scopes)`,
    },
    {
      name: 'oauth_client_logout_check',
      expression: `backchannel_logout_uri is null or source = 'operator'`,
    },
    {
      name: 'oauth_client_operator_fields_check',
      expression: `source = 'operator' or not (is_development or home_url is not null or initiate_login_uri is not null)`,
    },
    {
      name: 'oauth_client_session_days_check',
      expression: 'session_days is null or is_first_party and session_days >= 1 and session_days <= 3650',
    },
    { name: 'oauth_client_token_limit_check', expression: 'not has_token_limit or is_first_party and is_confidential' },
    { name: 'oauth_client_scope_names_check', expression: `scopes <@ array[${quotedScopes}]` },
  ],
});

export class OAuthClient extends OAuthClientSchema.class {}
OAuthClientSchema.setClass(OAuthClient);

const OAuthClientSecretSchema = defineEntity({
  name: 'OAuthClientSecret',
  tableName: 'oauth_client_secret',
  properties: {
    /** SHA-256 of the secret, which is not stored. */
    secretHash: p.blob().primary(),
    client: () => p.manyToOne(OAuthClient).deleteRule('cascade'),
    last4: text(),
    createdAt: instant().onCreate(() => new Date()),
    /** Expiry of the old secret after a rotation; until then both are valid. */
    expiresAt: instant().nullable(),
  },
  indexes: [
    { name: 'oauth_client_secret_client_index', properties: ['client'] },
    {
      name: 'oauth_client_secret_expiry_index',
      expression:
        'create index "oauth_client_secret_expiry_index" on "oauth_client_secret" ("expires_at") where expires_at is not null',
    },
  ],
});

export class OAuthClientSecret extends OAuthClientSecretSchema.class {}
OAuthClientSecretSchema.setClass(OAuthClientSecret);
