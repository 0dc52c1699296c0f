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
    /** Its start, which its expiry does not tell: an emailed link makes it wait longer. */
    beganAt: instant().defaultRaw('now()'),
    expiresAt: instant(),
    /** The id, encrypted, by which its browser continues from an emailed link. */
    sealedId: text().nullable(),
  },
  indexes: [
    { name: 'authorization_request_expiry_index', properties: ['expiresAt'] },
    { name: 'authorization_request_browser_index', properties: ['browserHash'] },
  ],
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
