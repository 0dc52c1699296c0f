import express, { type RequestHandler } from 'express';
import { parseBearer } from '../auth/authorization-header.ts';
import { prepareLookup, type DescribedCredential } from '../auth/describe-credential.ts';
import { resourceUri } from '../auth/resource.ts';
import { callerOf } from '../auth/authenticate.ts';
import { leastInvalidTime } from '../crypto/minimum-duration.ts';
import { RESOURCES } from '../entities/index.ts';
import type { HttpServices } from '../http/http-services.ts';
import { createRateLimitError } from '../http/identify.ts';
import { identifyOperator } from '../http/identify-operator.ts';
import { createRateHeaders, setHeaders } from '../http/reply.ts';
import { authorize } from '../procedures/authorize.ts';

const BODY_BYTES_MAX = 4096;
const ACCESS = { scope: 'credentials:verify', accountLevel: false, permission: null, isOperatorApi: true } as const;

/**
 * Creates the handlers of introspection by operator keys (RFC 7662): of the API keys and access tokens of
 * all accounts and clients. Other requests are for oidc-provider, where clients ask about their own tokens.
 */
export function introspectAsOperator(http: HttpServices): RequestHandler[] {
  const { services } = http;
  const { db, tokens, config } = services;
  const isOperator = (rawHeaders: readonly string[]): boolean =>
    tokens.parseKind(parseBearer(rawHeaders) ?? '') === 'operatorKey';

  const identify: RequestHandler = async (req, res, next) => {
    if (!isOperator(req.rawHeaders)) {
      next('route');
      return;
    }
    const address = http.clientAddress(req);
    const { authentication, rate } = await identifyOperator(http, req, { address, cost: 1, limit: 'verify' });
    res.locals['credentialId'] = callerOf(authentication)?.credentialId ?? null;
    setHeaders(res, createRateHeaders(rate, config));
    if (!rate.allowed) throw createRateLimitError(rate);
    authorize(authentication, ACCESS);
    http.operatorReads.note(
      { credentialId: res.locals['credentialId'] as string, address, of: { operation: 'introspect' } },
      res.locals['requestId'] as string, // set in app.ts for every response
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
    const elapsed = leastInvalidTime();
    const found = await prepareLookup(tokens, token, { kinds: ['api-key', 'oauth-grant'], teamId: null })?.run(db);
    if (found === undefined) await elapsed;
    res.json(found === undefined ? { active: false } : present(found, config.baseUrl));
  };

  return [
    identify,
    express.raw({ type: 'application/x-www-form-urlencoded', limit: BODY_BYTES_MAX, inflate: false }),
    answer,
  ];
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
  ...(principal.teamId !== null && { team_id: principal.teamId }),
  ...(token?.thumbprint && { cnf: { jkt: token.thumbprint } }),
});
