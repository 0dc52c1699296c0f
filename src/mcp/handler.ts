import { toNodeHandler } from '@modelcontextprotocol/node';
import type { Request, RequestHandler, Response } from 'express';
import type { Principal } from '../auth/principal.ts';
import { SCOPES } from '../entities/index.ts';
import { ProblemError } from '../errors.ts';
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
import { createContext } from '../procedures/create-context.ts';
import { toProblemError } from '../procedures/problem-details.ts';
import { readJson } from '../rest/body.ts';
import type { Face } from '../rest/face.ts';
import { consoleReads } from './console-reads.ts';
import { createResources } from './resources.ts';
import { createMcpEndpoint, type McpCall } from './server.ts';
import { buildTools, initialScopes, type Tool } from './tools.ts';

const METHODS = 'POST, OPTIONS';
/** The largest batch of a client of the protocol before 2025-06-18, as over tRPC. */
const MAX_BATCH = 20;

type State = { principal: Principal | null };

/** Serves the REST operations, and reads of the console, as tools of the Model Context Protocol, at `/mcp`. */
export function mcpHandler(http: HttpServices, { routes: { routes }, describe }: Face): RequestHandler {
  const { config } = http.services;
  const tools = buildTools([...routes, ...consoleReads], config);
  const resources = createResources(config.baseUrl, describe);
  const serve = toNodeHandler(createMcpEndpoint(http, resources));
  const origins = new Set([...config.trpcOrigins, config.baseUrl]);

  return async (req: Request, res: Response) => {
    const requestId = res.locals['requestId'] as string; // set in app.ts for every response
    const address = http.clientAddress(req);
    const state: State = { principal: null };
    try {
      allowOrigin(req, res, origins);
      if (req.method === 'OPTIONS') {
        setHeaders(res, createRateHeaders(await peekAddress(http, address), config));
        res.status(204).end();
        return;
      }
      const { call, body } = await admit(http, tools, req, res, state, { requestId, address });
      await serve(Object.assign(req, { auth: { token: '', clientId: '', scopes: [], extra: call } }), res, body);
    } catch (error) {
      if (res.headersSent) throw error;
      const problem = toProblemError(error);
      http.log.failure(problem, requestId);
      recordDenial(http, problem, { principal: state.principal, address, requestId });
      if (!res.hasHeader('RateLimit-Limit'))
        setHeaders(res, createRateHeaders(await peekAddress(http, address), config));
      const reply = createProblemReply(problem, config.baseUrl, requestId, 'mcp');
      send(res, reply, buildHeaders(reply, requestId, []), false);
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
  { requestId, address }: { requestId: string; address: string },
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
  const called = findCalls(body);
  if (called.length > MAX_BATCH)
    throw new ProblemError('batch_too_large', `A batch can hold at most ${MAX_BATCH} calls.`);
  if (called.length > 1) {
    rate = await limiter.consume(authentication.principal.credentialId, called.length - 1);
    setHeaders(res, createRateHeaders(rate, services.config));
    if (!rate.allowed) throw createRateLimitError(rate);
  }
  const { kind, scopes } = authentication.principal;
  const has = ({ scope }: Tool) => scope === null || scopes.includes(scope);
  const known = tools.filter(({ name }) => called.includes(name));
  res.locals['operation'] = known.length === 0 ? null : known.map(({ name }) => name).join(',');
  const missing = known.filter((tool) => !has(tool)).flatMap(({ scope }) => scope ?? []);
  if (kind === 'oauth-grant' && missing.length > 0) {
    const needed = [...new Set(missing)].join(' ');
    throw new ProblemError('scope_missing', `An access token with the scope ${needed} is required.`, { scope: needed });
  }
  // The scopes of an API key are fixed, so it only sees the tools that it can call.
  const offered = kind === 'api-key' ? tools.filter(has) : tools;
  return { call: { ctx: createContext(services, { requestId, address, authentication }), tools: offered }, body };
}

/** Returns what each message of a body calls: the name of a tool, or of a method. */
function findCalls(body: unknown): string[] {
  const messages = (Array.isArray(body) ? body : [body]) as ({
    method?: unknown;
    params?: { name?: unknown };
  } | null)[];
  return messages.map((message) => {
    const { method, params } = message ?? {};
    return String(method === 'tools/call' ? params?.name : method);
  });
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
