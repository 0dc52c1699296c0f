import { toNodeHandler } from '@modelcontextprotocol/node';
import type { Request, RequestHandler, Response } from 'express';
import type { Principal } from '../auth/principal.ts';
import { SCOPES } from '../entities/index.ts';
import type { RequestIds } from '../events/request-ids.ts';
import { ProblemError } from '../problems/error.ts';
import { createOrigin } from '../http/device.ts';
import { recordDenial } from '../http/denials.ts';
import type { HttpServices } from '../http/http-services.ts';
import { createRateLimitError, identify, peekAddress } from '../http/identify.ts';
import {
  buildHeaders,
  createProblemReply,
  createRateHeaders,
  EXPOSED_HEADERS,
  send,
  setHeaders,
} from '../http/reply.ts';
import { requestIdsOf } from '../http/request-id.ts';
import { createContext } from '../procedures/context.ts';
import { toProblemError } from '../procedures/problem-details.ts';
import { readJson } from '../rest/body.ts';
import type { Face } from '../rest/face.ts';
import { consoleReads } from './console-reads.ts';
import { readCalls } from './messages.ts';
import { createResources } from './resources.ts';
import { createMcpEndpoint, type McpCall } from './server.ts';
import { buildTools, initialScopes, type Tool } from './tools.ts';

const METHODS = 'POST, OPTIONS';

type State = { principal: Principal | null };

/** Serves the REST operations, and reads of the console, as tools of the Model Context Protocol, at `/mcp`. */
export function mcpHandler(http: HttpServices, { routes: { routes }, describe }: Face): RequestHandler {
  const { config } = http.services;
  const tools = buildTools([...routes, ...consoleReads], config);
  const resources = createResources(config.baseUrl, describe);
  const serve = toNodeHandler(createMcpEndpoint(http, resources));
  const origins = new Set([...config.trpcOrigins, config.baseUrl]);

  return async (req: Request, res: Response) => {
    const requestIds = requestIdsOf(req);
    const address = http.clientAddress(req);
    const state: State = { principal: null };
    try {
      allowOrigin(req, res, origins);
      if (req.method === 'OPTIONS') {
        setHeaders(res, createRateHeaders(await peekAddress(http, address), config));
        res.status(204).end();
        return;
      }
      const { call, body } = await admit(http, tools, req, res, state, { requestIds, address });
      // Programs without a client library. The SDK requires both types by name, and answers with one of them.
      if (/^\s*$|\*\/\*/.test(req.headers.accept ?? '')) req.headers.accept = 'application/json, text/event-stream';
      await serve(Object.assign(req, { auth: { token: '', clientId: '', scopes: [], extra: call } }), res, body);
    } catch (error) {
      if (res.headersSent) throw error;
      const problem = toProblemError(error);
      http.log.failure(problem, requestIds);
      recordDenial(http, problem, { principal: state.principal, address, requestIds });
      if (!res.hasHeader('RateLimit-Limit'))
        setHeaders(res, createRateHeaders(await peekAddress(http, address), config));
      const reply = createProblemReply(problem, config.baseUrl, requestIds, 'mcp');
      send(res, reply, buildHeaders(reply, requestIds, []), false);
    }
  };
}

/**
 * Checks a request in the order of REST: rate limit, method, credential, body, scopes. An access token without the
 * scope of a called tool gets the challenge with which clients ask the user for it.
 */
async function admit(
  http: HttpServices,
  tools: readonly Tool[],
  req: Request,
  res: Response,
  state: State,
  { requestIds, address }: { requestIds: RequestIds; address: string },
): Promise<{ call: McpCall; body: unknown }> {
  const { services, limiter } = http;
  const identified = await identify(http, req, { address, teamId: null, path: '/mcp', cost: 1, resource: 'mcp' });
  const { authentication } = identified;
  let { rate } = identified;
  state.principal = authentication.principal;
  res.locals['credentialId'] = authentication.principal?.credentialId ?? null;
  setHeaders(res, createRateHeaders(rate, services.config));
  if (!rate.allowed) throw createRateLimitError(rate);
  if (req.method !== 'POST') throw new ProblemError('method_not_allowed', undefined, { allow: METHODS });
  if (authentication.principal === null) throw withScope(authentication.refusal);

  const body = await readJson(req);
  const called = readCalls(body);
  if (called.length > 1) {
    rate = await limiter.consume(authentication.principal.credentialId, called.length - 1);
    setHeaders(res, createRateHeaders(rate, services.config));
    if (!rate.allowed) throw createRateLimitError(rate);
  }
  const { principal } = authentication;
  const known = tools.filter(({ name }) => called.includes(name));
  res.locals['operation'] = known.length === 0 ? null : known.map(({ name }) => name).join(',');
  requireScopes(known, principal);
  // Those that are called answer what is missing, also if they are not listed.
  const offered = tools.filter((tool) => isOffered(tool, principal) || known.includes(tool));
  return {
    call: {
      ctx: createContext(services, {
        requestIds,
        address,
        origin: createOrigin(http, req, address),
        authentication,
      }),
      tools: offered,
    },
    body,
  };
}

/** A team credential can never call tools of the account. The scopes of an API key are fixed; a token can get others. */
const isOffered = ({ scope, isAccountLevel }: Tool, { kind, scopes, teamId }: Principal): boolean =>
  !(isAccountLevel && teamId !== null) && (kind !== 'api-key' || scope === null || scopes.includes(scope));

/** Lets clients ask the user for the scopes of the called tools, unless no scope would help. */
function requireScopes(called: readonly Tool[], principal: Principal): void {
  if (principal.kind !== 'oauth-grant') return;
  const missing = called
    .filter((tool) => isOffered(tool, principal))
    .flatMap(({ scope }) => (scope === null || principal.scopes.includes(scope) ? [] : [scope]));
  if (missing.length === 0) return;
  const scope = [...new Set(missing)].join(' ');
  throw new ProblemError('scope_missing', `An access token with the scope ${scope} is required.`, { scope });
}

/** Tells clients which scopes to ask for first. */
const withScope = ({ problem, message, extras }: ProblemError): ProblemError =>
  new ProblemError(problem, message, { ...extras, scope: initialScopes(SCOPES).join(' ') });

/** Rejects pages of other origins, as the protocol requires. Clients that are no browsers send no origin. */
function allowOrigin(req: Request, res: Response, origins: ReadonlySet<string>): void {
  const { origin } = req.headers;
  res.vary('Origin');
  if (origin === undefined) return;
  if (!origins.has(origin)) throw new ProblemError('cross_site_request', 'The origin is not listed in TRPC_ORIGINS.');
  res.set({
    'Access-Control-Allow-Origin': origin,
    'Access-Control-Allow-Methods': METHODS,
    'Access-Control-Allow-Headers':
      'Authorization, Content-Type, X-Request-Id, MCP-Protocol-Version, Mcp-Method, Mcp-Name',
    'Access-Control-Expose-Headers': `${EXPOSED_HEADERS}, WWW-Authenticate`,
    'Access-Control-Max-Age': '7200',
  });
}
