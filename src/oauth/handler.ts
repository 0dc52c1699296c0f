import { Router, type RequestHandler } from 'express';
import { runAs } from '../events/actor.ts';
import { ProblemError } from '../errors.ts';
import { createCookies } from '../http/cookies.ts';
import type { HttpServices } from '../http/http-services.ts';
import { createEngine } from './engine.ts';
import { errorStyle } from './error-page.ts';
import { followEvents } from './events.ts';
import { createClientLimit, limitByAddress, limitRegistrations } from './limits.ts';
import { resourceMetadata } from './metadata.ts';
import { createProvider, ROUTES } from './provider.ts';
import { allowAnyOrigin, preflight } from './cors.ts';
import { withKnownForm, withKnownQuery } from './request-parameters.ts';
import { oauthErrors, withRedirectUri } from './token-request.ts';

const METADATA = '/.well-known/oauth-authorization-server';

/** Creates the routes of the authorization server. Only the paths listed here exist. */
export function oauthPages(http: HttpServices): Router {
  const { config, db } = http.services;
  const provider = createProvider(http.services, createCookies(config.baseUrl), createClientLimit(http.attempts));
  followEvents(provider, http);
  const engine = createEngine(provider, config.baseUrl);

  const named = namedBy(http);
  const limit = limitByAddress(http);
  const inOAuthFormat = oauthErrors(http);
  const pages = Router({ caseSensitive: true, strict: true });
  pages.use(resourceMetadata(config));
  pages.get(errorStyle.path, errorStyle.serve);
  pages.get(METADATA, named('metadata'), engine);
  pages.options(METADATA, engine);
  pages.get(ROUTES.authorization, named('authorize'), limit, withKnownQuery, engine);
  pages.get(`${ROUTES.authorization}/:id`, named('resume'), limit, withoutQuery, engine);
  pages.post(ROUTES.token, named('token'), limit, ...withRedirectUri(db), engine, inOAuthFormat);
  pages.post(ROUTES.revocation, named('revoke'), limit, engine);
  pages.post(ROUTES.introspection, named('introspect'), limit, engine);
  const { pushed_authorization_request: pushed } = ROUTES;
  pages.post(pushed, named('par'), limit, ...withKnownForm(), engine, inOAuthFormat);
  for (const path of [ROUTES.token, ROUTES.revocation, pushed]) pages.options(path, engine);
  if (config.oauth.registration) {
    pages.post(ROUTES.registration, named('register'), allowAnyOrigin, limit, limitRegistrations(http), engine);
    pages.options(ROUTES.registration, preflight('POST'));
  }
  for (const [path, allow] of allowedMethods(config.oauth.registration)) {
    pages.all(path, () => {
      throw new ProblemError('method_not_allowed', undefined, { allow });
    });
  }
  return pages;
}

function allowedMethods(registration: boolean): [path: string, allow: string][] {
  const { authorization, registration: register, introspection, ...posted } = ROUTES;
  return [
    [METADATA, 'GET, HEAD, OPTIONS'],
    [authorization, 'GET, HEAD'],
    [`${authorization}/:id`, 'GET, HEAD'],
    [introspection, 'POST'],
    ...Object.values(posted).map((path): [string, string] => [path, 'POST, OPTIONS']),
    ...(registration ? [[register, 'POST, OPTIONS'] as [string, string]] : []),
  ];
}

/** A resumed request is found by its cookie. Without one, oidc-provider would fail on the query. */
const withoutQuery: RequestHandler = (req, _res, next) => {
  req.url = req.url.replace(/\?.*$/s, '');
  next();
};

/** Names a request in the log and sets the actor of its events, whose fields name the client. */
const namedBy =
  ({ services: { audit }, clientAddress }: HttpServices) =>
  (operation: string): RequestHandler =>
  (req, res, next) => {
    res.locals['operation'] = `oauth.${operation}`;
    const requestId = res.locals['requestId'] as string; // set for every answer, in app.ts
    runAs(
      { actorKind: 'oauth_client', actorId: null, credentialId: null, address: clientAddress(req), requestId, audit },
      next,
    );
  };
