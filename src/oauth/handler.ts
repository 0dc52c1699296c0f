import { Router, type RequestHandler } from 'express';
import { runAs } from '../events/actor.ts';
import { ProblemError } from '../errors.ts';
import { createCookies } from '../http/cookies.ts';
import type { HttpServices } from '../http/http-services.ts';
import { engineOf } from './engine.ts';
import { errorStyle } from './error-page.ts';
import { followEvents } from './events.ts';
import { clientWindow, limited, oneMoreClient } from './limits.ts';
import { resourceMetadata } from './metadata.ts';
import { createProvider, ROUTES } from './provider.ts';
import { inItsWords, withRedirectUri } from './token-request.ts';

const METADATA = '/.well-known/oauth-authorization-server';

/** The authorization server: the engine, behind a list of the paths that exist. */
export function oauthPages(transport: HttpServices): Router {
  const { config, db } = transport.services;
  const provider = createProvider(transport.services, createCookies(config.baseUrl), clientWindow(transport.attempts));
  followEvents(provider, transport);
  const engine = engineOf(provider, config.baseUrl);

  const named = namedBy(transport);
  const pages = Router({ caseSensitive: true, strict: true });
  pages.use(resourceMetadata(config));
  pages.get(errorStyle.path, errorStyle.serve);
  pages.get(METADATA, named('metadata'), engine);
  pages.options(METADATA, engine);
  pages.get(ROUTES.authorization, named('authorize'), limited(transport), engine);
  pages.get(`${ROUTES.authorization}/:id`, named('resume'), limited(transport), withoutQuery, engine);
  pages.post(ROUTES.token, named('token'), limited(transport), ...withRedirectUri(db), engine, inItsWords(transport));
  pages.post(ROUTES.revocation, named('revoke'), limited(transport), engine);
  pages.post(ROUTES.introspection, named('introspect'), limited(transport), engine);
  pages.post(ROUTES.pushed_authorization_request, named('par'), limited(transport), engine);
  if (config.oauth.registration)
    pages.post(ROUTES.registration, named('register'), limited(transport), oneMoreClient(transport), engine);
  for (const path of [ROUTES.token, ROUTES.revocation, ROUTES.pushed_authorization_request])
    pages.options(path, engine);
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
    ...(registration ? [[register, 'POST'] as [string, string]] : []),
  ];
}

/** A request that goes on is told by its cookie. Where that is gone, the engine would take the query for a new one, and fail. */
const withoutQuery: RequestHandler = (req, _res, next) => {
  req.url = req.url.replace(/\?.*$/s, '');
  next();
};

/** How the log calls a request, and on whose behalf it is recorded: of clients the fields of an event say more. */
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
