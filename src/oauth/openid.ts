import { Router, type RequestHandler } from 'express';
import type { KoaContextWithOIDC } from 'oidc-provider';
import { query } from '../db/query.ts';
import type { Services } from '../service/services.ts';
import { ProblemError } from '../problems/error.ts';
import type { HttpServices } from '../http/http-services.ts';
import { createRateLimitError, identify } from '../http/identify.ts';
import { createRateHeaders, setHeaders } from '../http/reply.ts';
import { addressBucket } from '../rate-limit/address-bucket.ts';
import { createIdToken, readUserClaims } from '../resources/openid/claims.ts';
import { listPublicKeys } from '../resources/openid/signing-keys.ts';
import { OPENID_SCOPES, SCOPES } from '../entities/index.ts';
import { LANGUAGES } from '../messages/languages.ts';
import { isPageOfClient } from '../resources/oauth-clients/redirect-uri.ts';
import { allowAnyOrigin } from './cors.ts';
import { LOGOUT } from './logout.ts';

export const OPENID_METADATA = '/.well-known/openid-configuration';
export const JWKS = '/oauth/jwks';
export const USERINFO = '/oauth/userinfo';

/** Returns the members that the document of OpenID Connect Discovery has besides those of RFC 8414. */
export const openIdMembers = (baseUrl: string): Record<string, unknown> => ({
  jwks_uri: baseUrl + JWKS,
  userinfo_endpoint: baseUrl + USERINFO,
  end_session_endpoint: baseUrl + LOGOUT,
  backchannel_logout_supported: true,
  backchannel_logout_session_supported: true,
  frontchannel_logout_supported: false,
  frontchannel_logout_session_supported: false,
  scopes_supported: [...OPENID_SCOPES, ...SCOPES],
  subject_types_supported: ['public'],
  id_token_signing_alg_values_supported: ['RS256'],
  claim_types_supported: ['normal'],
  claims_supported:
    'iss sub aud exp iat auth_time amr nonce sid at_hash email email_verified name given_name family_name picture locale roster_team'.split(
      ' ',
    ),
  prompt_values_supported: ['none', 'login', 'consent', 'select_account', 'create'],
  ui_locales_supported: Object.keys(LANGUAGES),
  claims_parameter_supported: false,
  request_parameter_supported: false,
  request_uri_parameter_supported: false,
});

/** Adds an id token to the answer of the token endpoint, if the tokens were authorized for `openid`. */
export async function addIdToken(services: Services, { oidc, body }: KoaContextWithOIDC): Promise<void> {
  const { AccessToken, AuthorizationCode } = oidc.entities;
  if (AccessToken?.grantId === undefined) return;
  const answer = body as { access_token: string; scope?: string }; // a token response (RFC 6749, section 5.1)
  const created = await createIdToken(services, AccessToken.grantId, {
    accessToken: answer.access_token,
    isFirst: AuthorizationCode !== undefined,
  });
  if (created === undefined) return;
  const scope = [...created.scopes, answer.scope ?? ''].join(' ').trim();
  Object.assign(answer, { scope, id_token: created.idToken });
}

const findRedirectUris = query<{ uris: string[] }>(
  'oauth_client_find_redirect_uris',
  'select redirect_uris as uris from oauth_client where id = $1 and deleted_at is null',
);

/** Whether a page of an origin can read the claims: one of the token’s client, or of an origin in TRPC_ORIGINS. */
async function canRead(
  { services: { config, db } }: HttpServices,
  clientId: string | null | undefined,
  origin: string,
): Promise<boolean> {
  if (config.trpcOrigins.includes(origin)) return true;
  const [row] = await db.query(findRedirectUris, [clientId ?? '']);
  return row !== undefined && isPageOfClient(row.uris, origin);
}

/**
 * Creates the routes of OpenID Connect: the public keys, which pages of every origin can read, and the claims about the
 * user of a token, which only pages of its client can. Their preflights and errors, which say nothing, are for all pages.
 */
export function createOpenIdRouter(http: HttpServices): Router {
  const { config, db } = http.services;
  const { oauthByAddress: counter } = http.attempts;
  const pages = Router({ caseSensitive: true, strict: true });

  pages.get(JWKS, allowAnyOrigin, async (req, res) => {
    const rate = await counter.consume(addressBucket(http.clientAddress(req)));
    if (!rate.allowed) throw createRateLimitError(rate);
    // Clients ask again when they see a key that they do not know.
    res.set('Cache-Control', 'public, max-age=300').json({ keys: await listPublicKeys(db) });
  });

  const answer: RequestHandler = async (req, res) => {
    const facts = { address: http.clientAddress(req), teamId: null, path: USERINFO, cost: 1, counter };
    const { authentication, rate } = await identify(http, req, facts);
    setHeaders(res, createRateHeaders(rate, config));
    if (!rate.allowed) throw createRateLimitError(rate);
    const { principal } = authentication;
    if (principal === null) throw authentication.refusal;
    res.locals['credentialId'] = principal.credentialId;
    const { tokenFamilyId } = principal;
    const hash = authentication.token?.hash;
    const claims = tokenFamilyId && hash ? await readUserClaims(db, tokenFamilyId, hash) : undefined;
    if (claims === undefined) {
      throw new ProblemError('scope_missing', 'A credential with the scope openid is required.', { scope: 'openid' });
    }
    const origin = req.get('origin');
    if (origin !== undefined && !(await canRead(http, principal.clientId, origin)))
      res.removeHeader('Access-Control-Allow-Origin');
    else if (origin !== undefined) res.set('Access-Control-Allow-Origin', origin);
    res.vary('Origin').set('Cache-Control', 'no-store').json(claims);
  };
  pages.get(USERINFO, allowAnyOrigin, answer);
  pages.post(USERINFO, allowAnyOrigin, answer);

  for (const [path, allow] of [
    [JWKS, 'GET, HEAD, OPTIONS'],
    [USERINFO, 'GET, HEAD, POST, OPTIONS'],
  ] as const) {
    pages.options(path, (_req, res) => {
      // A wildcard does not stand for `Authorization`.
      res.status(204).set({
        'Access-Control-Allow-Origin': '*',
        'Access-Control-Allow-Methods': allow,
        'Access-Control-Allow-Headers': 'Authorization, DPoP',
        'Access-Control-Max-Age': '3600',
      });
      res.end();
    });
    pages.all(path, () => {
      throw new ProblemError('method_not_allowed', undefined, { allow });
    });
  }
  return pages;
}
