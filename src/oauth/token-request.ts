import type { ErrorRequestHandler, RequestHandler } from 'express';
import { hashSecret } from '../crypto/tokens.ts';
import { isUnavailable } from '../db/errors.ts';
import { query, type QueryRunner } from '../db/query.ts';
import type { HttpServices } from '../http/http-services.ts';
import { requestIdsOf } from '../http/request-id.ts';
import { toProblemError } from '../procedures/problem-details.ts';
import { UNAVAILABLE } from './events.ts';
import { normalizeResources, removeOpenIdScopes, rewriteForm } from './request-parameters.ts';

const findRedirectUri = query<{ uri: string }>(
  'oauth_token_find_redirect_uri',
  `select payload->>'redirectUri' as uri from oauth_token where token_hash = $1 and kind = 'code'`,
);

/**
 * Adds the `redirect_uri` of the code to a token request without one. OAuth 2.1 does not send it, because PKCE
 * protects the code, but oidc-provider requires it.
 */
export const addRedirectUri = (db: QueryRunner, baseUrl: string): RequestHandler[] =>
  rewriteForm(async (form) => {
    const isOmitted = form.getAll('redirect_uri').every((uri) => uri === '');
    // Clients repeat the scopes of the authorization when they refresh.
    const scopes = form.getAll('scope').map(removeOpenIdScopes);
    form.delete('scope');
    for (const scope of scopes) if (scope !== '') form.append('scope', scope);
    normalizeResources(baseUrl, form);
    const code = form.get('grant_type') === 'authorization_code' && isOmitted ? form.get('code') : null;
    if (code !== null) {
      const [bound] = await db.query(findRedirectUri, [hashSecret(code)]);
      // For an unknown code the value does not matter: it is rejected as unknown.
      form.set('redirect_uri', bound?.uri ?? 'urn:unknown');
    }
    return form;
  });

/** Creates the handler of errors before oidc-provider gets the request. It responds as RFC 6749, section 5.2, specifies. */
export const createErrorHandler =
  ({ log }: HttpServices): ErrorRequestHandler =>
  (error: { status?: number; message: string }, req, res, next) => {
    res.set('Cache-Control', 'no-store');
    // Faults of the client come first: a body that it aborts has the code of a broken connection.
    if (error.status !== undefined && error.status < 500) {
      res.status(error.status).json({ error: 'invalid_request', error_description: error.message });
    } else if (isUnavailable(error)) {
      log.failure(toProblemError(error), requestIdsOf(req));
      res.status(503).set('Retry-After', '1').json(UNAVAILABLE);
    } else {
      next(error);
    }
  };
