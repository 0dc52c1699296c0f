import { defineEntity, p } from '@mikro-orm/core';
import { instant, text } from './base.ts';

/** An authorization request that waits for consent. */
const AuthorizationRequestSchema = defineEntity({
  name: 'AuthorizationRequest',
  tableName: 'authorization_request',
  properties: {
    /** SHA-256 of the id in the URL of the consent page. */
    idHash: p.blob().primary(),
    /** SHA-256 of the cookie of the browser that started it; only that browser can answer it. */
    browserHash: p.blob().nullable(),
    payload: p.json<Record<string, unknown>>(),
    /** The decision of the user. Written once. */
    result: p.json<Record<string, unknown>>().nullable(),
    expiresAt: instant(),
  },
  indexes: [{ name: 'authorization_request_expiry_index', properties: ['expiresAt'] }],
});

export class AuthorizationRequest extends AuthorizationRequestSchema.class {}
AuthorizationRequestSchema.setClass(AuthorizationRequest);

/** Other short-lived models of oidc-provider: pushed requests and used DPoP proofs. */
const OAuthArtifactSchema = defineEntity({
  name: 'OAuthArtifact',
  tableName: 'oauth_artifact',
  properties: {
    /** SHA-256 of the model and its id. */
    keyHash: p.blob().primary(),
    model: text(),
    payload: p.json<Record<string, unknown>>(),
    expiresAt: instant(),
    consumedAt: instant().nullable(),
  },
  indexes: [{ name: 'oauth_artifact_expiry_index', properties: ['expiresAt'] }],
});

export class OAuthArtifact extends OAuthArtifactSchema.class {}
OAuthArtifactSchema.setClass(OAuthArtifact);
