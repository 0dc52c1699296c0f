import type { AnyTRPCProcedure } from '@trpc/server';
import { nodeHTTPRequestHandler } from '@trpc/server/adapters/node-http';
import type { Request, RequestHandler, Response } from 'express';
import { callerOf } from '../auth/authenticate.ts';
import { parseBearer } from '../auth/authorization-header.ts';
import { ProblemError } from '../problems/error.ts';
import { PROBLEMS } from '../problems/catalogue.ts';
import { createOrigin } from '../http/device.ts';
import { identify, peekAddress, createRateLimitError } from '../http/identify.ts';
import { createCredentialUse } from '../http/credential-use.ts';
import { identifyOperator } from '../http/identify-operator.ts';
import { createRateHeaders, EXPOSED_HEADERS, setHeaders } from '../http/reply.ts';
import { requestIdsOf } from '../http/request-id.ts';
import type { HttpServices } from '../http/http-services.ts';
import type { AppRouter } from '../router.ts';
import { definitionOf, proceduresOf } from '../procedures/definition.ts';
import { createContext } from '../procedures/context.ts';
import { toProblemError } from '../procedures/problem-details.ts';
import { BatchLists } from '../procedures/lists.ts';
import type { Meta } from '../procedures/meta.ts';
import { setErrorContext } from '../procedures/trpc.ts';
import type { OperatorLimit } from '../rate-limit/operator-limiters.ts';
import { recordDenial } from '../http/denials.ts';
import { createCookies } from '../http/cookies.ts';
import { checkAccount } from '../http/page-account.ts';
import { isSameOrigin } from '../http/same-origin.ts';
import { compressReads } from './compress-reads.ts';
import { sendLists } from './lists.ts';
import { readBrowserClient } from './read-browser-client.ts';

const MAX_BODY_BYTES = 100 * 1024;
const MAX_BATCH = 20;
/** Beside its longest list. Three more lists of 10,000 members. */
const MAX_BATCH_LISTS_BYTES = 8 * 1024 * 1024;
const METHODS: readonly string[] = ['GET', 'HEAD', 'POST', 'OPTIONS'];

/** Serves the procedures over tRPC, at `/trpc`. Each call of a batch consumes one request of the rate limit. */
export function trpcHandler(http: HttpServices, router: AppRouter): RequestHandler {
  const { services, log } = http;
  const credentialUse = createCredentialUse(http);
  const origins = new Set(services.config.trpcOrigins);
  const cookies = createCookies(services.config.baseUrl);
  const procedures = proceduresOf(router);
  const isProcedure = (name: string) => Object.hasOwn(procedures, name);
  const { host } = new URL(services.config.baseUrl);

  return async (req: Request, res: Response) => {
    const address = http.clientAddress(req);
    allowOrigin(req, res, origins, services.config.oauth.dpop);
    if (req.method === 'OPTIONS') {
      setHeaders(res, createRateHeaders(await peekAddress(http, address), services.config));
      res.status(204).end();
      return;
    }
    const path = req.path.slice(1);
    const names = parseProcedureNames(path);
    res.locals['operation'] = names.every(isProcedure) && names.length <= MAX_BATCH ? names.join(',') : null;
    const { session } = cookies.read(req.headers.cookie);
    const crossSite = findCrossSiteError(req, session !== undefined, services.config.baseUrl);
    const { authentication, rate } = isOperatorKey(http, req)
      ? await identifyOperator(http, req, { address, cost: names.length, limit: findLimit(router, names) })
      : await identify(http, req, {
          address,
          teamId: null,
          path: req.baseUrl + req.path,
          cost: names.length,
          sessionToken: crossSite === null ? session : undefined,
        });
    cookies.renameSession(res, req.headers.cookie, authentication);
    res.locals['credentialId'] = callerOf(authentication)?.credentialId ?? null;
    setHeaders(res, createRateHeaders(rate, services.config));
    if (!rate.allowed) res.setHeader('Retry-After', rate.resetSeconds);
    // tRPC fails on other methods before it creates a request.
    if (rate.allowed && !METHODS.includes(req.method)) {
      throw new ProblemError('method_not_allowed', undefined, { allow: METHODS.join(', ') });
    }
    // tRPC builds a URL from both, so neither can be the client's choice.
    req.headers.host = host;
    req.url = req.url.replace(/^\/+/, '/');
    // Disables streaming: a stream starts before the calls run, and can set neither cookies nor a status.
    req.headers.accept = 'application/json';
    delete req.headers['trpc-accept'];
    // Queries have no body, but tRPC checks the content type.
    if (!isMutation(req)) delete req.headers['content-type'];

    const requestIds = requestIdsOf(req);
    const browserClient = readBrowserClient(http, cookies, req, res);
    const rejection = crossSite ?? findInvalidRequest(req, names.length) ?? checkAccount(req, authentication);
    const blocked = rate.allowed ? rejection : createRateLimitError(rate);
    compressReads(req, res);
    const ctx = createContext(services, {
      requestIds,
      address,
      origin: createOrigin(http, req, address),
      authentication,
      browserClient,
      blocked,
      credentialUse,
      operatorReads: http.operatorReads,
      batch: names.length > 1 ? new BatchLists(MAX_BATCH_LISTS_BYTES) : null,
    });
    await nodeHTTPRequestHandler({
      req,
      res,
      path,
      router,
      createContext: () => ctx,
      maxBodySize: findMaxBodyBytes(procedures, names),
      maxBatchSize: MAX_BATCH,
      // tRPC answers unreadable requests as plain text, with its own status.
      responseMeta: ({ info, data, errors }) => {
        sendLists(res, data ?? []);
        return {
          headers: {
            ...(info === undefined && { 'content-type': 'application/json' }),
            // Replaces tRPC's own header, which would overwrite ours.
            vary: `trpc-accept, accept, accept-encoding${origins.size > 0 ? ', origin' : ''}`,
          },
          ...(blocked !== null && { status: PROBLEMS[blocked.problem][0] }),
          // tRPC has no code for it.
          ...(names.length === 1 && errors.some(isExpired) && { status: 410 }),
        };
      },
      onError: ({ error, input }) => {
        setErrorContext(error, ctx);
        const problem = toProblemError(error);
        const principal = callerOf(authentication);
        const { teamId } = (input ?? {}) as { teamId?: unknown }; // unvalidated input
        recordDenial(http, problem, { principal, address, requestIds, teamId });
        if (problem.extras.retryAfter !== undefined) res.setHeader('Retry-After', problem.extras.retryAfter);
        log.failure(problem, requestIds);
      },
    });
  };
}

const isOperatorKey = ({ services }: HttpServices, req: Request): boolean =>
  services.tokens.parseKind(parseBearer(req.rawHeaders) ?? '') === 'operatorKey';

/** Returns the limit that all calls of a batch share; calls with different ones consume the smaller one. */
function findLimit(router: AppRouter, names: readonly string[]): OperatorLimit {
  const procedures = proceduresOf(router);
  const limitOf = (procedure: AnyTRPCProcedure | undefined) =>
    procedure === undefined ? undefined : definitionOf<Meta>(procedure).meta?.limit;
  const limits = new Set(names.map((name) => limitOf(procedures[name]) ?? 'requests'));
  const [limit = 'requests'] = limits;
  return limits.size === 1 ? limit : 'requests';
}

function findMaxBodyBytes(procedures: ReturnType<typeof proceduresOf>, names: readonly string[]): number {
  const [name = ''] = names;
  const procedure = names.length === 1 && Object.hasOwn(procedures, name) ? procedures[name] : undefined;
  return (procedure && definitionOf<Meta>(procedure).meta?.maxBodyBytes) ?? MAX_BODY_BYTES;
}

const isExpired = (error: Error): boolean => error instanceof ProblemError && error.problem === 'cursor_expired';

/** Parses the procedure names of a path as tRPC does: a percent-encoded comma separates calls, too. */
function parseProcedureNames(path: string): string[] {
  try {
    return decodeURIComponent(path).split(',');
  } catch {
    return [path];
  }
}

/** Finds errors that tRPC would report before it creates a context, without one of our codes. */
function findInvalidRequest(req: Request, calls: number): ProblemError | null {
  if (isMutation(req) && !isJson(req)) return new ProblemError('unsupported_media_type');
  if (calls > MAX_BATCH) return new ProblemError('batch_too_large', `A batch can hold at most ${MAX_BATCH} calls.`);
  return null;
}

const isJson = ({ headers }: Request): boolean => /^application\/json(?:;|$)/i.test(headers['content-type'] ?? '');

const isMutation = ({ method }: Request): boolean => method !== 'GET' && method !== 'HEAD';

/**
 * Rejects cross-site calls that use a cookie or can set one (CSRF). Calls with a bearer credential are not affected.
 * HTML forms cannot send the required JSON either.
 */
function findCrossSiteError(req: Request, hasSession: boolean, baseUrl: string): ProblemError | null {
  if (req.headers.authorization !== undefined || (!hasSession && !isMutation(req))) return null;
  if (isSameOrigin(req, baseUrl)) return null;
  // The service was opened at another address, as while it is set up.
  const { origin, host } = req.headers;
  const isOwnPage = origin !== undefined && URL.canParse(origin) && new URL(origin).host === host;
  return new ProblemError(
    'cross_site_request',
    isOwnPage ? `Open ${baseUrl} instead of ${origin}, or set BASE_URL to the address that browsers use.` : undefined,
  );
}

/** Frontends on other origins use bearer credentials; cookies are never allowed across origins. */
function allowOrigin(req: Request, res: Response, origins: ReadonlySet<string>, dpop: boolean): void {
  const { origin } = req.headers;
  if (origins.size > 0) res.vary('Origin');
  if (origin === undefined || !origins.has(origin)) return;
  res.set({
    'Access-Control-Allow-Origin': origin,
    'Access-Control-Allow-Methods': 'GET, POST',
    'Access-Control-Allow-Headers': `Authorization, Content-Type, X-Request-Id${dpop ? ', DPoP' : ''}`,
    'Access-Control-Expose-Headers': EXPOSED_HEADERS,
    'Access-Control-Max-Age': '7200',
  });
}
