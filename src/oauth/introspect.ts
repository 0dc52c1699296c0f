import express, { type RequestHandler } from 'express';
import type { KoaContextWithOIDC } from 'oidc-provider';
import { parseBearer } from '../auth/authorization-header.ts';
import { findMembershipOf, prepareLookup, type DescribedCredential } from '../auth/describe-credential.ts';
import { isForSignInOnly, listEffectivePermissions } from '../auth/permissions.ts';
import { resourceUri } from '../auth/resource.ts';
import { callerOf } from '../auth/authenticate.ts';
import { untilLeastInvalidTime } from '../crypto/minimum-duration.ts';
import type { Database } from '../db/database.ts';
import type { Services } from '../service/services.ts';
import { RESOURCES } from '../entities/index.ts';
import type { HttpServices } from '../http/http-services.ts';
import { createRateLimitError } from '../http/identify.ts';
import { identifyOperator } from '../http/identify-operator.ts';
import { createRateHeaders, setHeaders } from '../http/reply.ts';
import { requestIdsOf } from '../http/request-id.ts';
import { authorize } from '../procedures/authorize.ts';

const BODY_BYTES_MAX = 4096;
const ACCESS = { scope: 'credentials:verify', accountLevel: false, permission: null, isOperatorApi: true } as const;

/**
 * Creates the handlers of introspection by operator keys (RFC 7662): of the API keys and access tokens of
 * all accounts and clients. Other requests are for oidc-provider, where clients ask about their own tokens.
 */
export function introspectAsOperator(http: HttpServices): RequestHandler[] {
  const { services, attempts } = http;
  const { db, tokens, config } = services;
  const isOperator = (rawHeaders: readonly string[]): boolean =>
    tokens.parseKind(parseBearer(rawHeaders) ?? '') === 'operatorKey';

  const identify: RequestHandler = async (req, res, next) => {
    if (!isOperator(req.rawHeaders)) {
      next('route');
      return;
    }
    const address = http.clientAddress(req);
    const { authentication, rate } = await identifyOperator(http, req, {
      address,
      cost: 1,
      limit: 'verify',
      counter: attempts.oauthByAddress,
    });
    res.locals['credentialId'] = callerOf(authentication)?.credentialId ?? null;
    setHeaders(res, createRateHeaders(rate, config));
    if (!rate.allowed) throw createRateLimitError(rate);
    authorize(authentication, ACCESS);
    http.operatorReads.note(
      { credentialId: res.locals['credentialId'] as string, address, of: { operation: 'introspect' } },
      requestIdsOf(req),
    );
    next();
  };

  const answer: RequestHandler = async (req, res) => {
    const form = new URLSearchParams(Buffer.isBuffer(req.body) ? req.body.toString() : '');
    const [token, ...others] = form.getAll('token');
    if (!token || others.length > 0) {
      res.status(400).json({ error: 'invalid_request', error_description: 'exactly one `token` is required' });
      return;
    }
    const startedAt = performance.now();
    const found = await prepareLookup(tokens, token, { kinds: ['api-key', 'oauth-grant'], teamId: null })?.run(db);
    if (found === undefined || isForSignInOnly(found.principal)) {
      await untilLeastInvalidTime(startedAt);
      res.json({ active: false });
      return;
    }
    res.json({ ...present(found, config.baseUrl), ...(await describeTeam(db, found)) });
  };

  return [
    identify,
    express.raw({ type: 'application/x-www-form-urlencoded', limit: BODY_BYTES_MAX, inflate: false }),
    answer,
  ];
}

/** Adds what an access token of the asking client can do in its team, or in its active one. */
export async function addPermissions({ db, tokens }: Services, { oidc, body }: KoaContextWithOIDC): Promise<void> {
  const token = oidc.params?.['token'];
  if ((body as { active?: boolean } | undefined)?.active !== true || typeof token !== 'string') return;
  const found = await prepareLookup(tokens, token, { kinds: ['oauth-grant'], teamId: null })?.run(db);
  if (found !== undefined) Object.assign(body as object, await describeTeam(db, found));
}

/** Returns the team of a credential, or else its active one, with what can be done in it, as `verify` answers it. */
async function describeTeam(db: Database, found: DescribedCredential) {
  const membership = await findMembershipOf(db, found);
  const teamId = found.principal.teamId ?? membership?.team.id;
  return {
    ...(teamId !== undefined && { team_id: teamId }),
    ...(membership && { permissions: listEffectivePermissions(membership, found.principal) }),
  };
}

const present = (
  { principal, account, expiresAt, clientId, resource, token }: DescribedCredential,
  baseUrl: string,
) => ({
  active: true,
  iss: baseUrl,
  sub: account.id,
  username: account.email,
  scope: principal.scopes.join(' '),
  token_type: token?.thumbprint ? 'DPoP' : 'Bearer',
  // API keys are accepted by all resources.
  aud: resource === null ? RESOURCES.map((one) => resourceUri(baseUrl, one)) : resourceUri(baseUrl, resource),
  ...(expiresAt !== null && { exp: Math.floor(Date.parse(expiresAt) / 1000) }),
  ...(clientId !== null && { client_id: clientId }),
  ...(token?.thumbprint && { cnf: { jkt: token.thumbprint } }),
});
