import { defineEntity, p } from '@mikro-orm/core';
import { Account } from './account.ts';
import { base, instant, text } from './base.ts';
import { OAuthClient } from './oauth-client.ts';
import { productPermissions } from './permission-catalogue.ts';
import { quotedScopes, type Scope } from './scope.ts';
import { Team } from './team.ts';

/** The resources that tokens are issued for (RFC 8707): the API and the MCP endpoint. */
export const RESOURCES = ['api', 'mcp'] as const;
export type Resource = (typeof RESOURCES)[number];

/** Lifetime of a grant after a consent. Refreshing its tokens does not extend it. */
export const GRANT_DAYS = 90;

/** The access of a client to an account or one of its teams. Its tokens and API keys cannot exceed or outlive it. */
const OAuthGrantSchema = defineEntity({
  name: 'OAuthGrant',
  tableName: 'oauth_grant',
  properties: {
    ...base('grant'),
    account: () => p.manyToOne(Account).deleteRule('cascade'),
    client: () => p.manyToOne(OAuthClient).deleteRule('cascade'),
    audience: text().$type<'personal' | 'team'>(),
    /** Null for the API, in grants that a replica of the previous version created. */
    resource: text().$type<Resource>().nullable(),
    /** The only team that the grant gives access to; null for the whole account. */
    team: () => p.manyToOne(Team).nullable().deleteRule('cascade'),
    scopes: p.array().columnType('text[]').$type<Scope[]>(),
    /** The scopes of OpenID Connect, which are none of the API. Null without `openid`. */
    openidScopes: p.array().columnType('text[]').$type<string[]>().nullable(),
    /** Those of the client when its user consented. A first-party client has all that the role holds instead. */
    productPermissions: productPermissions(),
    /** Time at which scopes were last removed. */
    narrowedAt: instant().nullable(),
    lastUsedAt: instant().nullable(),
    expiresAt: instant(),
    revokedAt: instant().nullable(),
  },
  indexes: [
    { name: 'oauth_grant_account_id_index', properties: ['account', 'revokedAt'] },
    { name: 'oauth_grant_client_index', properties: ['client'] },
    {
      name: 'oauth_grant_active_unique',
      expression: `create unique index "oauth_grant_active_unique" on "oauth_grant" ("account_id", "client_id", "resource", (coalesce(team_id, ''))) where revoked_at is null and resource is not null`,
    },
    {
      name: 'oauth_grant_team_index',
      expression:
        'create index "oauth_grant_team_index" on "oauth_grant" ("team_id", "account_id") where team_id is not null',
    },
    {
      name: 'oauth_grant_expiry_index',
      expression: 'create index "oauth_grant_expiry_index" on "oauth_grant" (least(expires_at, revoked_at))',
    },
  ],
  checks: [
    { name: 'oauth_grant_resource_check', expression: `resource in ('api', 'mcp')` },
    { name: 'oauth_grant_audience_check', expression: `audience in ('personal', 'team')` },
    // Prevents that a grant for a team becomes one for the whole account.
    { name: 'oauth_grant_team_check', expression: `(audience = 'team') = (team_id is not null)` },
    { name: 'oauth_grant_scopes_check', expression: `scopes <@ array[${quotedScopes}]` },
    {
      name: 'oauth_grant_openid_check',
      expression: `openid_scopes <@ array['openid', 'profile', 'email']`,
    },
    // A grant can be for signing in alone.
    { name: 'oauth_grant_scopes_not_empty', expression: 'cardinality(scopes) > 0 or openid_scopes is not null' },
  ],
});

export class OAuthGrant extends OAuthGrantSchema.class {}
OAuthGrantSchema.setClass(OAuthGrant);
