import { defineEntity, p } from '@mikro-orm/core';
import { Account } from './account.ts';
import { base, instant, text, textId } from './base.ts';
import { OAuthClient } from './oauth-client.ts';
import { OAuthGrant, type Resource } from './oauth-grant.ts';
import { productPermissions } from './permission-catalogue.ts';
import { quotedScopes, type Scope } from './scope.ts';
import { Session, type Proofs } from './session.ts';
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
    /** The session that a first-party client was authorized in, with which its tokens end. Null for other clients. */
    session: () => p.manyToOne(Session).nullable().deleteRule('cascade'),
    /**
     * The team in which the user of a first-party client works, for tokens that name no other. It is no audience, and not
     * deleted with the team: each use looks for the active membership.
     */
    activeTeamId: textId().nullable(),
    /** The scopes of the consent. Those of the grant can have changed since. */
    scopes: p.array().columnType('text[]').$type<Scope[]>(),
    /** The product permissions of the consent. */
    productPermissions: productPermissions(),
    /**
     * What the session proved when it approved: `auth_time` and `amr` of its tokens, which nothing renews. Null in families
     * that a process of the previous version created.
     */
    proofs: p.json<Proofs>().nullable(),
    /** The scopes of OpenID Connect, which are none of the API. Null without `openid`. */
    openidScopes: p.array().columnType('text[]').$type<string[]>().nullable(),
    /** The `nonce` of the request, which the id token repeats. */
    nonce: text().nullable(),
    /** When to look whether the session has expired, of which its client is told. Null after that. */
    logoutCheckAt: instant().nullable(),
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
      name: 'oauth_token_family_session_index',
      expression:
        'create index "oauth_token_family_session_index" on "oauth_token_family" ("session_id") where session_id is not null',
    },
    {
      name: 'oauth_token_family_logout_index',
      expression:
        'create index "oauth_token_family_logout_index" on "oauth_token_family" ("logout_check_at") where logout_check_at is not null',
    },
    {
      name: 'oauth_token_family_pending_index',
      expression:
        'create index "oauth_token_family_pending_index" on "oauth_token_family" ("created_at") where grant_id is null',
    },
  ],
  checks: [
    { name: 'oauth_token_family_resource_check', expression: `resource in ('api', 'mcp')` },
    {
      name: 'oauth_token_family_proofs_check',
      expression: `jsonb_typeof(proofs) = 'object' and length(proofs::text) <= 4000`,
    },
    {
      name: 'oauth_token_family_openid_check',
      expression: `openid_scopes <@ array['openid', 'profile', 'email']`,
    },
    { name: 'oauth_token_family_scopes_check', expression: `scopes <@ array[${quotedScopes}]` },
  ],
});

export class OAuthTokenFamily extends OAuthTokenFamilySchema.class {}
OAuthTokenFamilySchema.setClass(OAuthTokenFamily);
