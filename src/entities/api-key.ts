import { defineEntity, p } from '@mikro-orm/core';
import { Account } from './account.ts';
import { base, instant, isExpired, text, textId } from './base.ts';
import { OAuthGrant } from './oauth-grant.ts';
import { OAuthTokenFamily } from './oauth-token-family.ts';
import { productPermissions } from './permission-catalogue.ts';
import { quotedScopes, type Scope } from './scope.ts';
import { Team } from './team.ts';

const ApiKeySchema = defineEntity({
  name: 'ApiKey',
  tableName: 'api_key',
  properties: {
    ...base('key'),
    account: () => p.manyToOne(Account).deleteRule('cascade'),
    /** Null for a personal key. */
    team: () => p.manyToOne(Team).nullable().deleteRule('cascade'),
    /** The grant that created the key, directly or through another key. The key cannot outlive it. */
    oauthGrant: () => p.manyToOne(OAuthGrant).nullable().deleteRule('cascade'),
    /** The token family that created the key. */
    oauthFamily: () => p.manyToOne(OAuthTokenFamily).nullable().deleteRule('set null'),
    /** The first of the keys that created each other with equal rights; null for one that no such key created. */
    rotationId: textId().nullable().hidden(),
    name: text(),
    /** Can be empty, of a key for the operator’s product alone. */
    scopes: p.array().columnType('text[]').$type<Scope[]>(),
    /** What it can have at most of what its account’s role holds. */
    productPermissions: productPermissions(),
    keyPrefix: text(),
    last4: text(),
    /** Precise to the minute. Written in batches outside the request. */
    lastUsedAt: instant().nullable(),
    expiresAt: instant().nullable(),
    isExpired: isExpired(),
    revokedAt: instant().nullable(),
    /** When the job for unused keys looks at it again; null before its first look. */
    unusedCheckAt: instant().nullable().hidden(),
    /** When its owner was told that it will be revoked because it is not used. */
    unusedWarnedAt: instant().nullable().hidden(),
  },
  indexes: [
    // With revoked keys too: deleting the account or the team finds all by them.
    { name: 'api_key_account_id_index', properties: ['account', 'revokedAt', 'createdAt'] },
    {
      name: 'api_key_team_id_index',
      expression:
        'create index "api_key_team_id_index" on "api_key" ("team_id", "revoked_at", "created_at") where team_id is not null',
    },
    {
      name: 'api_key_oauth_grant_index',
      expression:
        'create index "api_key_oauth_grant_index" on "api_key" ("oauth_grant_id") where oauth_grant_id is not null',
    },
    {
      name: 'api_key_unused_index',
      expression:
        'create index "api_key_unused_index" on "api_key" (coalesce(unused_check_at, created_at)) where revoked_at is null',
    },
    {
      name: 'api_key_grant_expiry_index',
      expression:
        'create index "api_key_grant_expiry_index" on "api_key" ("expires_at") where oauth_grant_id is not null and revoked_at is null',
    },
    {
      name: 'api_key_oauth_family_index',
      expression:
        'create index "api_key_oauth_family_index" on "api_key" ("oauth_family_id") where oauth_family_id is not null',
    },
  ],
  checks: [{ name: 'api_key_scopes_check', expression: `scopes <@ array[${quotedScopes}]` }],
});

export class ApiKey extends ApiKeySchema.class {}
ApiKeySchema.setClass(ApiKey);

const ApiKeySecretSchema = defineEntity({
  name: 'ApiKeySecret',
  tableName: 'api_key_secret',
  properties: {
    /** SHA-256 of the secret, which is not stored. */
    secretHash: p.blob().primary(),
    apiKey: () => p.manyToOne(ApiKey).deleteRule('cascade'),
    createdAt: instant().onCreate(() => new Date()),
    /** Expiry of the old secret after a rotation; until then both are valid. */
    expiresAt: instant().nullable(),
  },
  indexes: [
    { name: 'api_key_secret_api_key_index', properties: ['apiKey'] },
    {
      name: 'api_key_secret_expiry_index',
      expression:
        'create index "api_key_secret_expiry_index" on "api_key_secret" ("expires_at") where expires_at is not null',
    },
  ],
});

export class ApiKeySecret extends ApiKeySecretSchema.class {}
ApiKeySecretSchema.setClass(ApiKeySecret);

/** The requests of a key on one day (UTC). Written in batches outside the request, and kept for 90 days. */
const ApiKeyUseSchema = defineEntity({
  name: 'ApiKeyUse',
  tableName: 'api_key_use',
  properties: {
    apiKey: () => p.manyToOne(ApiKey).primary().deleteRule('cascade'),
    day: p.date().primary(),
    requests: p.bigint(),
    /** The IP address of the last request of the day. */
    address: text().nullable(),
  },
  indexes: [{ name: 'api_key_use_day_index', properties: ['day'] }],
});

export class ApiKeyUse extends ApiKeyUseSchema.class {}
ApiKeyUseSchema.setClass(ApiKeyUse);
