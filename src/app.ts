import type { IncomingMessage, ServerResponse } from 'node:http';
import express, { type ErrorRequestHandler, type Request, type RequestHandler, type Response } from 'express';
import helmet from 'helmet';
import { claimHash } from './auth/hash-claim.ts';
import { claimHashesBy } from './crypto/argon2.ts';
import { RequestCaller, currentCaller, runFor } from './db/turns/request-caller.ts';
import { shownRequestId } from './events/request-ids.ts';
import { ProblemError } from './problems/error.ts';
import { PROBLEMS } from './problems/catalogue.ts';
import { peekAddress } from './http/identify.ts';
import { failRequest, isolateRecorders, type Listener } from './http/guard.ts';
import { hasOneHost } from './http/parser-errors.ts';
import { recordDenial, type DenialCaller } from './http/denials.ts';
import { buildHeaders, createProblemReply, createRateHeaders, send, setHeaders } from './http/reply.ts';
import { requestIdsOf } from './http/request-id.ts';
import type { HttpServices } from './http/http-services.ts';
import { isOnWayOfApplication } from './http/way-of-application.ts';
import type { Config } from './config/config.ts';
import { createExportRouter } from './exports/router.ts';
import { createOAuthRouter } from './oauth/handler.ts';
import { mcpHandler } from './mcp/handler.ts';
import { clientPages } from './pages/clients.ts';
import { collectionPages } from './pages/collection.ts';
import { devMailPages } from './pages/dev-mail.ts';
import { devWebhookPages } from './pages/dev-webhooks.ts';
import { docsPages } from './pages/docs.ts';
import { healthPages, type Readiness } from './pages/health.ts';
import { problemPages } from './pages/problems.ts';
import { eventPages } from './pages/events.ts';
import { procedurePages } from './pages/procedures.ts';
import { webPages } from './pages/web.ts';
import { createPictureRouter } from './picture-uploads/router.ts';
import { restHandler } from './rest/handler.ts';
import { API_FACE } from './rest/api-face.ts';
import { openFace } from './rest/face.ts';
import { OPERATOR_FACE } from './rest/operator-face.ts';
import { apiRouter, appRouter, operatorRouter } from './router.ts';
import { proceduresOf } from './procedures/definition.ts';
import { toProblemError } from './procedures/problem-details.ts';
import { createSecurityRouter } from './secret-scanning/router.ts';
import { trpcHandler } from './trpc/handler.ts';

/** Creates the listener of all requests: the REST interfaces have handlers of their own, other paths Express. */
export function createApp(services: HttpServices, readiness: Readiness): Listener {
  const http = isolateRecorders(services);
  const { db, config } = http.services;
  claimHashesBy(claimHash);
  const api = openFace(API_FACE, apiRouter, config.baseUrl, config.tokenBrand);
  const serveApi = restHandler(http, api);
  const serveOperatorApi = restHandler(
    http,
    openFace(OPERATOR_FACE, operatorRouter, config.baseUrl, config.tokenBrand),
  );

  const pages = express();
  pages.disable('x-powered-by').disable('etag').enable('case sensitive routing');
  pages.use(addCommonHeaders(http));
  pages.use(addSecurityHeaders(config));
  pages.use('/trpc', trpcHandler(http, appRouter));
  if (config.mcp) pages.all('/mcp', mcpHandler(http, api));
  pages.use(createPictureRouter(http));
  pages.use(createExportRouter(http));
  pages.use(addRateHeaders(http));
  pages.use(healthPages(db, readiness));
  pages.use(eventPages(config.brand));
  pages.use(procedurePages(proceduresOf(appRouter), config.brand));
  pages.use(docsPages(config.brand));
  pages.use(collectionPages(api, config.baseUrl));
  pages.use(clientPages());
  pages.use(problemPages(config));
  pages.use(devMailPages(config));
  pages.use(devWebhookPages(config, db));
  pages.use(createSecurityRouter(http));
  pages.use(createOAuthRouter(http));
  pages.use(webPages(config));
  pages.use(() => {
    throw new ProblemError('route_not_found');
  });
  pages.use(problemHandler(http));

  // Express's own last handler would write a stack trace to the client.
  const showPage = (req: IncomingMessage, res: ServerResponse) =>
    pages(req as Request, res as Response, (error: unknown) =>
      failRequest({ log: http.log, baseUrl: config.baseUrl }, req, res, error),
    );

  return (req, res) => {
    // The address is stored, because a closed socket has none.
    const caller = new RequestCaller(http.clientAddress(req), req, res);
    if (readiness.isEnding === true) res.shouldKeepAlive = false;
    const [, face] = FACES.exec(req.url ?? '') ?? [];
    const serve = face === undefined ? showPage : face.toLowerCase() === 'api' ? serveApi : serveOperatorApi;
    return runFor(caller, () => serve(req, res));
  };
}

/** Matches request targets that are `/api/v1`, `/operator/v1` or below, also in absolute form. */
const FACES = /^(?:https?:\/\/[^/?#]*)?\/(api|operator)\/v1(?:[/?]|$)/i;

const [REQUEST_TIMEOUT] = PROBLEMS.request_timeout;

/** Adds a request id, a log line and `no-store` to all responses outside the API. Pages can override `no-store`. */
const addCommonHeaders =
  (http: HttpServices): RequestHandler =>
  (req, res, next) => {
    const startedAt = performance.now();
    const requestIds = requestIdsOf(req);
    res.setHeader('X-Request-Id', shownRequestId(requestIds));
    res.setHeader('Cache-Control', 'no-store');
    res.on('close', () => {
      // The client has gone before its answer began.
      if (!res.headersSent) res.statusCode = REQUEST_TIMEOUT;
      const { operation = null, credentialId = null } = res.locals as { operation?: string; credentialId?: string }; // set by the /trpc mount
      http.log.request(res, operation, startedAt, credentialId, requestIds);
    });
    next(
      hasOneHost(req)
        ? undefined
        : new ProblemError('malformed_request', 'The request must have exactly one `Host` header.'),
    );
  };

/** Security headers (OWASP ASVS 5.0, V3.4): no scripts and no framing, unless a page overrides them. */
function addSecurityHeaders({ hsts }: Config): RequestHandler {
  const addOthers = helmet({
    contentSecurityPolicy: { useDefaults: false, directives: { defaultSrc: ["'none'"], frameAncestors: ["'none'"] } },
    strictTransportSecurity: false,
    xFrameOptions: { action: 'deny' },
  });
  return (req, res, next) => {
    if (hsts !== undefined) res.setHeader('Strict-Transport-Security', hsts);
    addOthers(req, res, () => {
      if (isOnWayOfApplication(req.url)) res.removeHeader('Cross-Origin-Opener-Policy');
      next();
    });
  };
}

/** Adds the state of the client address's rate limit to responses that consume nothing. */
const addRateHeaders =
  (http: HttpServices): RequestHandler =>
  async (req, res, next) => {
    setHeaders(res, createRateHeaders(await peekAddress(http, http.clientAddress(req)), http.services.config));
    next();
  };

const problemHandler =
  (http: HttpServices): ErrorRequestHandler =>
  async (error, req, res, next) => {
    if (res.headersSent) {
      next(error);
      return;
    }
    if (currentCaller()?.isGone === true) return;
    const problem = toProblemError(isHttpError(error) ? new ProblemError('malformed_request') : error);
    const requestIds = requestIdsOf(req);
    http.log.failure(problem, requestIds);
    const { principal = null, teamId } = res.locals as Pick<DenialCaller, 'teamId'> & Partial<DenialCaller>; // set where a session is accepted
    recordDenial(http, problem, { principal, teamId, address: http.clientAddress(req), requestIds });
    if (!res.hasHeader('RateLimit-Limit'))
      setHeaders(res, createRateHeaders(await peekAddress(http, http.clientAddress(req)), http.services.config));
    const reply = createProblemReply(problem, http.services.config.baseUrl, requestIds);
    send(res, reply, buildHeaders(reply, requestIds, []), req.method === 'HEAD');
  };

/** Whether Express threw this for a path that does not decode. */
const isHttpError = (error: unknown): boolean => error instanceof URIError;
