import { defineEntity, p } from '@mikro-orm/core';
import { Account } from './account.ts';
import { base, instant, text } from './base.ts';

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
