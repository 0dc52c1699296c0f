import type { IncomingMessage } from 'node:http';
import { callerOf, type Authentication } from '../auth/authenticate.ts';
import type { OperatorPrincipal, Principal } from '../auth/principal.ts';
import type { Config } from '../config/config.ts';
import type { RequestIds } from '../events/request-ids.ts';
import { ProblemError } from '../problems/error.ts';
import { createOrigin } from '../http/device.ts';
import { currentCaller } from '../db/turns/request-caller.ts';
import { compressReply } from '../http/compression.ts';
import { peekAddress, createRateLimitError } from '../http/identify.ts';
import type { Listener } from '../http/guard.ts';
import { hasOneHost } from '../http/parser-errors.ts';
import {
  createApiHeaders,
  buildHeaders,
  createJsonReply,
  createProblemReply,
  createRateHeaders,
  send,
  type Reply,
} from '../http/reply.ts';
import { createCredentialUse } from '../http/credential-use.ts';
import { requestIdsOf } from '../http/request-id.ts';
import { recordDenial } from '../http/denials.ts';
import type { HttpServices } from '../http/http-services.ts';
import { createContext, type Prefetch } from '../procedures/context.ts';
import { toProblemError } from '../procedures/problem-details.ts';
import { isStorable } from '../procedures/fields.ts';
import { readInput, readParams, type Params } from './input.ts';
import { readUpload } from './upload.ts';
import type { RateDecision } from '../rate-limit/limiter.ts';
import type { Face } from './face.ts';
import type { Lookup, Route } from './routes.ts';

/** The state of one request, for its response and its log line. */
type Call = {
  readonly req: IncomingMessage;
  readonly requestIds: RequestIds;
  readonly address: string;
  readonly path: string;
  readonly query: string;
  readonly lookup: Lookup;
  rate: RateDecision | undefined;
  principal: Principal | OperatorPrincipal | null;
  teamId: string | null;
};

/** Handles all requests of a REST interface, with the contract's order of checks: see `answer`. */
export function restHandler(http: HttpServices, face: Face): Listener {
  const { baseUrl, hsts } = http.services.config;
  const { routes } = face;
  const { isPublic } = face.settings;
  const fixedHeaders = createApiHeaders(hsts, isPublic);
  // OAuth grants access to what is open to other origins.
  const resource = isPublic ? 'api' : null;

  return async (req, res) => {
    const startedAt = performance.now();
    const { path, query } = splitTarget(req.url ?? '');
    const lookup = routes.lookup(req.method ?? '', path);
    const call: Call = {
      req,
      requestIds: requestIdsOf(req),
      address: http.clientAddress(req),
      path,
      query,
      lookup,
      rate: undefined,
      principal: null,
      teamId: null,
    };
    const reply = await answer(http, face, call).catch((error: unknown) => {
      const problem = toProblemError(error);
      http.log.failure(problem, call.requestIds);
      recordDenial(http, problem, call);
      return createProblemReply(problem, baseUrl, call.requestIds, resource);
    });
    if (currentCaller()?.isGone === true) res.statusCode = reply.status;
    else {
      const rate = call.rate ?? (await peekAddress(http, call.address));
      const headers = [...fixedHeaders, ...createRateHeaders(rate, http.services.config)];
      send(res, reply, buildHeaders(reply, call.requestIds, headers), req.method === 'HEAD');
    }
    const operation = lookup.kind === 'found' ? lookup.route.operationId : null;
    http.log.request(res, operation, startedAt, call.principal?.credentialId ?? null, call.requestIds);
  };
}

async function answer(http: HttpServices, face: Face, call: Call): Promise<Reply> {
  const { req, lookup } = call;
  if (!hasOneHost(req)) throw new ProblemError('malformed_request', 'The request must have exactly one `Host` header.');
  if (req.method === 'OPTIONS') return preflight(face, call, http.services.config);

  const params = lookup.kind === 'found' ? readParams(lookup.route, lookup.rawParams, call.query) : {};
  const teamId = lookup.kind === 'found' ? findTeamId(params) : null;
  const early =
    lookup.kind === 'found' && lookup.route.meta.prefetch !== undefined
      ? await readEarly(http, call, lookup.route, params, lookup.route.meta.prefetch)
      : undefined;
  const { authentication, rate } = await face.settings.identify(http, req, {
    address: call.address,
    teamId,
    path: call.path,
    lookup,
    prefetch: early?.prefetch,
  });
  call.rate = rate;
  call.principal = callerOf(authentication);
  call.teamId = teamId;
  if (!rate.allowed) throw createRateLimitError(rate);

  if (isDocument(face, call.path)) return face.document.reply(req);
  if (lookup.kind === 'unknown') throw new ProblemError('route_not_found');
  if (lookup.kind === 'wrong-method') throw new ProblemError('method_not_allowed', undefined, { allow: lookup.allow });
  return callProcedure(http, call, lookup.route, params, authentication, teamId, early);
}

/** Calls the procedure, which checks credential, scope and audience before it reads its input. */
async function callProcedure(
  http: HttpServices,
  { req, requestIds, address, query }: Call,
  route: Route,
  params: Params,
  authentication: Authentication,
  teamId: string | null,
  early: EarlyInput | undefined,
): Promise<Reply> {
  const ctx = createContext(http.services, {
    requestIds,
    address,
    origin: createOrigin(http, req, address),
    authentication,
    teamId,
    acceptsAnyName: true,
    operatorReads: http.operatorReads,
    ...readKey(req, route),
    ...(route.meta.upload && { upload: readUpload(req, route.meta.upload) }),
    ...(early && { prefetch: early.prefetch, credentialUse: createCredentialUse(http) }),
  });
  let raw: unknown;
  try {
    const output = await route.call(
      ctx,
      async () => (raw = await (early === undefined ? readInput(req, route, params, query) : early.read())),
    );
    const reply = createJsonReply(route.status, output);
    const { isVersioned } = route.meta;
    const versioned = isVersioned
      ? { ...reply, headers: ['ETag', `"${(output as { readonly version: number }).version}"`] }
      : reply;
    return await compressReply(versioned, req.headers['accept-encoding']);
  } catch (error) {
    throw relocate(toProblemError(error, { raw, locationOf: route.locationOf }), route);
  }
}

/** Names the parameter instead of the body in errors of procedures, which do not know where their input came from. */
function relocate(error: ProblemError, { hasBody, locationOf }: Route): ProblemError {
  const { errors } = error.extras;
  if (hasBody || errors === undefined) return error;
  const located = errors.map((entry) =>
    // An empty pointer is the body of an upload.
    entry.in === 'body' && entry.pointer !== '' ? { ...entry, in: locationOf(entry.pointer.slice(1)) } : entry,
  );
  return new ProblemError(error.problem, error.message, { ...error.extras, errors: located });
}

/** The input, or why there is none: reported only to callers with access. */
type EarlyInput = {
  readonly read: () => Promise<unknown>;
  readonly prefetch: Prefetch | undefined;
};

/** Reads the input of an operation before its caller is identified, so that both are found in one statement. */
async function readEarly(
  { services }: HttpServices,
  { req, query }: Call,
  route: Route,
  params: Params,
  prefetch: NonNullable<Route['meta']['prefetch']>,
): Promise<EarlyInput> {
  let raw: unknown;
  try {
    raw = await readInput(req, route, params, query);
  } catch (error) {
    return { read: () => Promise.reject(toProblemError(error)), prefetch: undefined };
  }
  return { read: () => Promise.resolve(raw), prefetch: prefetch(services, raw) };
}

const readKey = ({ headers }: IncomingMessage, { takesIdempotencyKey }: Route) =>
  takesIdempotencyKey ? { idempotencyKey: headers['idempotency-key'] as string | undefined } : {}; // one header

/** Returns the team id in the path or query, if PostgreSQL can store such a value. */
function findTeamId(params: Params): string | null {
  const teamId = params['teamId'];
  return typeof teamId === 'string' && isStorable(teamId) && teamId.length <= 2 * 255 ? teamId : null;
}

/** One trailing slash is tolerated, as in `buildRoutes`. */
const isDocument = ({ documentPath }: Face, path: string): boolean =>
  path === documentPath || path === `${documentPath}/`;

/** Answers OPTIONS. All origins can call a public interface with a bearer credential (CORS). */
function preflight(face: Face, { lookup, path }: Call, { oauth }: Config): Reply {
  if (lookup.kind === 'unknown' && !isDocument(face, path)) throw new ProblemError('route_not_found');
  const allow = lookup.kind === 'unknown' ? 'GET, HEAD, OPTIONS' : lookup.allow;
  return {
    status: 204,
    body: undefined,
    headers: Object.entries({
      Allow: allow,
      ...(face.settings.isPublic && {
        'Access-Control-Allow-Methods': allow,
        'Access-Control-Allow-Headers': `Authorization, Content-Type, Idempotency-Key, X-Request-Id${oauth.dpop ? ', DPoP' : ''}`,
        'Access-Control-Max-Age': '7200',
      }),
    }).flat(),
  };
}

const ORIGIN = /^[^:/?#]+:\/\/[^/?#]*/;

/** Splits a request target into path and query, also in absolute form (RFC 9112, section 3.2.2). */
function splitTarget(target: string): { path: string; query: string } {
  const local = target.startsWith('/') ? target : target.replace(ORIGIN, '');
  const mark = local.indexOf('?');
  return mark === -1 ? { path: local, query: '' } : { path: local.slice(0, mark), query: local.slice(mark + 1) };
}
