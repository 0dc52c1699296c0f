import { defineEntity, p } from '@mikro-orm/core';
import { Account } from './account.ts';
import { base, instant, text } from './base.ts';

/**
 * How a client came to be: made by the operator, by an account on its developer page, by dynamic
 * registration (RFC 7591), or named by the URL of its metadata document.
 */
export const CLIENT_SOURCES = ['operator', 'account', 'registration', 'document'] as const;
export type ClientSource = (typeof CLIENT_SOURCES)[number];

/** An application that asks people for grants. The id is its `client_id`. */
const OAuthClientSchema = defineEntity({
  name: 'OAuthClient',
  tableName: 'oauth_client',
  properties: {
    ...base('client'),
    source: text().$type<ClientSource>(),
    /** Whose developer page lists it. */
    account: () => p.manyToOne(Account).nullable().deleteRule('cascade'),
    name: text(),
    redirectUris: p.array().columnType('text[]').$type<string[]>(),
    /** Runs on people's own devices: loopback redirects with any port (RFC 8252). */
    isNative: p.boolean().default(false),
    /** Keeps a secret, and has to prove it. */
    isConfidential: p.boolean().default(false),
    /** What else it said of itself when it registered, by the names of RFC 7591. */
    metadata: p.json<Record<string, unknown>>().default('{}'),
    /** When a self-registered client is deleted unless it has a grant. */
    cleanupAt: instant().defaultRaw("(now() + '30 days'::interval)"),
  },
  indexes: [
    { name: 'oauth_client_account_index', properties: ['account'] },
    {
      name: 'oauth_client_cleanup_index',
      expression: `create index "oauth_client_cleanup_index" on "oauth_client" ("cleanup_at") where source in ('registration', 'document')`,
    },
  ],
  checks: [
    {
      name: 'oauth_client_source_check',
      expression: `source in ('operator', 'account', 'registration', 'document')`,
    },
    { name: 'oauth_client_owner_check', expression: `(source = 'account') = (account_id is not null)` },
  ],
});

export class OAuthClient extends OAuthClientSchema.class {}
OAuthClientSchema.setClass(OAuthClient);

const OAuthClientSecretSchema = defineEntity({
  name: 'OAuthClientSecret',
  tableName: 'oauth_client_secret',
  properties: {
    /** SHA-256 of the secret, which is stored nowhere. */
    secretHash: p.blob().primary(),
    client: () => p.manyToOne(OAuthClient).deleteRule('cascade'),
    last4: text(),
    createdAt: instant().onCreate(() => new Date()),
    /** Set on the old secret while a rotation lets both work. */
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
