import { defineEntity, p } from '@mikro-orm/core';
import { Account } from './account.ts';
import { base, text } from './base.ts';
import { OAuthClient } from './oauth-client.ts';
import { OAuthGrant, type Resource } from './oauth-grant.ts';
import { quotedScopes, type Scope } from './scope.ts';
import { Team } from './team.ts';

/**
 * One consent, and the tokens that descend from its code. It joins the grant of its account, client, resource and
 * audience when the code is exchanged; deleting it revokes its tokens and does not affect other families of the grant.
 */
const OAuthTokenFamilySchema = defineEntity({
  name: 'OAuthTokenFamily',
  tableName: 'oauth_token_family',
  properties: {
    ...base('family'),
    account: () => p.manyToOne(Account).deleteRule('cascade'),
    client: () => p.manyToOne(OAuthClient).deleteRule('cascade'),
    /** Null for the whole account. */
    team: () => p.manyToOne(Team).nullable().deleteRule('cascade'),
    resource: text().$type<Resource>(),
    /** The scopes of the consent. Those of the grant can have changed since. */
    scopes: p.array().columnType('text[]').$type<Scope[]>(),
    /** Null until the code is exchanged. */
    grant: () => p.manyToOne(OAuthGrant).nullable().deleteRule('cascade'),
  },
  indexes: [
    { name: 'oauth_token_family_grant_index', properties: ['grant'] },
    { name: 'oauth_token_family_account_index', properties: ['account'] },
    { name: 'oauth_token_family_client_index', properties: ['client'] },
    {
      name: 'oauth_token_family_team_index',
      expression:
        'create index "oauth_token_family_team_index" on "oauth_token_family" ("team_id") where team_id is not null',
    },
    {
      name: 'oauth_token_family_pending_index',
      expression:
        'create index "oauth_token_family_pending_index" on "oauth_token_family" ("created_at") where grant_id is null',
    },
  ],
  checks: [
    { name: 'oauth_token_family_resource_check', expression: `resource in ('api', 'mcp')` },
    { name: 'oauth_token_family_scopes_check', expression: `scopes <@ array[${quotedScopes}]` },
  ],
});

export class OAuthTokenFamily extends OAuthTokenFamilySchema.class {}
OAuthTokenFamilySchema.setClass(OAuthTokenFamily);
