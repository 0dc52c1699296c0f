import { defineEntity, p } from '@mikro-orm/core';
import { instant, text, textId } from './base.ts';
import { OAuthGrant } from './oauth-grant.ts';
import { OAuthTokenFamily } from './oauth-token-family.ts';
import { quotedScopes, type Scope } from './scope.ts';

export const TOKEN_KINDS = ['code', 'access', 'refresh'] as const;

/** An authorization code or token of a grant. Codes and refresh tokens are consumed once. */
const OAuthTokenSchema = defineEntity({
  name: 'OAuthToken',
  tableName: 'oauth_token',
  properties: {
    /** SHA-256 of the code or token, which is not stored. */
    tokenHash: p.blob().primary(),
    kind: text().$type<(typeof TOKEN_KINDS)[number]>(),
    /** Null for a code until it is exchanged. */
    grant: () => p.manyToOne(OAuthGrant).nullable().deleteRule('cascade'),
    /** Null in tokens that a replica of the previous version issued. */
    family: () => p.manyToOne(OAuthTokenFamily).nullable().deleteRule('cascade'),
    /** The active team of a first-party access token. It stays when others of its family get another. */
    activeTeamId: textId().nullable(),
    scopes: p.array().columnType('text[]').$type<Scope[]>(),
    /** The payload of oidc-provider, without the token. */
    payload: p.json<Record<string, unknown>>(),
    /** Thumbprint of the DPoP key that the token is bound to (RFC 9449). */
    thumbprint: text().nullable(),
    createdAt: instant().onCreate(() => new Date()),
    expiresAt: instant(),
    consumedAt: instant().nullable(),
    /** First use of an access token that a refresh issued. */
    usedAt: instant().nullable(),
  },
  indexes: [
    { name: 'oauth_token_grant_index', properties: ['grant'] },
    { name: 'oauth_token_family_index', properties: ['family'] },
    { name: 'oauth_token_expiry_index', properties: ['expiresAt'] },
  ],
  checks: [
    { name: 'oauth_token_kind_check', expression: `kind in ('code', 'access', 'refresh')` },
    { name: 'oauth_token_scopes_check', expression: `scopes <@ array[${quotedScopes}]` },
  ],
});

export class OAuthToken extends OAuthTokenSchema.class {}
OAuthTokenSchema.setClass(OAuthToken);

/** The response to a refresh, kept for a client that did not receive it (see OAUTH_REFRESH_REPEAT). */
const OAuthRefreshAnswerSchema = defineEntity({
  name: 'OAuthRefreshAnswer',
  tableName: 'oauth_refresh_answer',
  properties: {
    /** The refresh token that was consumed. */
    token: () => p.oneToOne(OAuthToken).primary().fieldName('token_hash').deleteRule('cascade'),
    /** Encrypted with `SECRET_KEYS`. */
    answer: text(),
    /** Hashes of the two tokens in the response. */
    successors: p.array().columnType('bytea[]').$type<Buffer[]>(),
    createdAt: instant().onCreate(() => new Date()),
  },
  indexes: [{ name: 'oauth_refresh_answer_created_index', properties: ['createdAt'] }],
});

export class OAuthRefreshAnswer extends OAuthRefreshAnswerSchema.class {}
OAuthRefreshAnswerSchema.setClass(OAuthRefreshAnswer);
