import { Router, type RequestHandler } from 'express';
import { runAs } from '../events/actor.ts';
import { ProblemError } from '../problems/error.ts';
import { createCookies } from '../http/cookies.ts';
import { requestIdsOf } from '../http/request-id.ts';
import type { HttpServices } from '../http/http-services.ts';
import { identifyBrowser } from './browser-session.ts';
import { createProviderHandler } from './provider-handler.ts';
import { introspectAsOperator } from './introspect.ts';
import { logProviderEvents } from './events.ts';
import { createClientLimit, limitByAddress, limitRegistrations } from './limits.ts';
import { createLogoutHandler, LOGOUT, redirectForm } from './logout.ts';
import { createResourceMetadataRouter } from './metadata.ts';
import { createOpenIdRouter, OPENID_METADATA } from './openid.ts';
import { nameProofClock } from './proof-clock.ts';
import { createProvider, ROUTES } from './provider.ts';
import { allowAnyOrigin, createPreflightHandler } from './cors.ts';
import { createPageErrorHandler, getErrorStyle } from './error-page.ts';
import { dropNullMembers, filterForm, filterQuery, readForm } from './request-parameters.ts';
import { createErrorHandler, addRedirectUri } from './token-request.ts';

const METADATA = '/.well-known/oauth-authorization-server';

/** Creates the routes of the authorization server. Only the paths listed here exist. */
export function createOAuthRouter(http: HttpServices): Router {
  const { config, db } = http.services;
  const provider = createProvider(
    http.services,
    createCookies(config.baseUrl),
    createClientLimit(http.attempts),
    (id) => http.usage.note({ kind: 'session', credentialId: id }, null),
  );
  logProviderEvents(provider, http);
  nameProofClock(provider);
  const handleByProvider = createProviderHandler(provider, http.services);

  const named = createOperationNames(http);
  const identify = identifyBrowser(http);
  const limit = limitByAddress(http);
  const handleErrors = createErrorHandler(http);
  const showErrors = createPageErrorHandler(config.brand);
  const pages = Router({ caseSensitive: true, strict: true });
  pages.use(createResourceMetadataRouter(config));
  const errorStyle = getErrorStyle(config.brand);
  pages.get(errorStyle.path, errorStyle.serve);
  for (const path of [METADATA, OPENID_METADATA]) {
    pages.get(path, named('metadata'), handleByProvider);
    pages.options(path, handleByProvider);
  }
  pages.use(createOpenIdRouter(http));
  pages.get(
    ROUTES.authorization,
    named('authorize'),
    identify,
    limit,
    filterQuery(config.baseUrl),
    handleByProvider,
    showErrors,
    handleErrors,
  );
  // Applications can choose (OpenID Connect Core 1.0, section 3.1.2.1).
  pages.post(ROUTES.authorization, named('authorize'), limit, ...redirectForm(ROUTES.authorization), showErrors);
  pages.get(
    `${ROUTES.authorization}/:id`,
    named('resume'),
    identify,
    limit,
    removeQuery,
    handleByProvider,
    handleErrors,
  );
  pages.get(LOGOUT, named('logout'), identify, limit, createLogoutHandler(http));
  pages.post(LOGOUT, named('logout'), limit, ...redirectForm(LOGOUT), showErrors);
  pages.post(
    ROUTES.token,
    named('token'),
    limit,
    ...addRedirectUri(db, config.baseUrl),
    handleByProvider,
    handleErrors,
  );
  pages.post(ROUTES.revocation, named('revoke'), limit, ...readForm(), handleByProvider, handleErrors);
  pages.post(ROUTES.introspection, named('introspect'), ...introspectAsOperator(http), handleErrors);
  pages.post(ROUTES.introspection, named('introspect'), limit, ...readForm(), handleByProvider, handleErrors);
  const { pushed_authorization_request: pushed } = ROUTES;
  pages.post(pushed, named('par'), limit, ...filterForm(config.baseUrl), handleByProvider, handleErrors);
  for (const path of [ROUTES.token, ROUTES.revocation, pushed]) pages.options(path, handleByProvider);
  if (config.oauth.registration) {
    pages.post(
      ROUTES.registration,
      named('register'),
      allowAnyOrigin,
      limit,
      limitRegistrations(http),
      ...dropNullMembers,
      handleByProvider,
      handleErrors,
    );
    pages.options(ROUTES.registration, createPreflightHandler('POST'));
  }
  for (const [path, allow] of listAllowedMethods(config.oauth.registration)) {
    pages.all(path, () => {
      throw new ProblemError('method_not_allowed', undefined, { allow });
    });
  }
  return pages;
}

function listAllowedMethods(registration: boolean): [path: string, allow: string][] {
  const { authorization, registration: register, introspection, ...posted } = ROUTES;
  return [
    [METADATA, 'GET, HEAD, OPTIONS'],
    [OPENID_METADATA, 'GET, HEAD, OPTIONS'],
    [authorization, 'GET, HEAD, POST'],
    [`${authorization}/:id`, 'GET, HEAD'],
    [introspection, 'POST'],
    [LOGOUT, 'GET, HEAD, POST'],
    ...Object.values(posted).map((path): [string, string] => [path, 'POST, OPTIONS']),
    ...(registration ? [[register, 'POST, OPTIONS'] as [string, string]] : []),
  ];
}

/** A resumed request is found by its cookie. Without one, oidc-provider would fail on the query. */
const removeQuery: RequestHandler = (req, _res, next) => {
  req.url = req.url.replace(/\?.*$/s, '');
  next();
};

/** Names a request in the log and sets the actor of its events, whose fields name the client. */
const createOperationNames =
  ({ services: { audit }, clientAddress }: HttpServices) =>
  (operation: string): RequestHandler =>
  (req, res, next) => {
    res.locals['operation'] = `oauth.${operation}`;
    runAs(
      {
        actorKind: 'oauth_client',
        actorId: null,
        credentialId: null,
        address: clientAddress(req),
        ...requestIdsOf(req),
        audit,
      },
      next,
    );
  };
