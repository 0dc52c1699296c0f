import { nodeHTTPRequestHandler } from '@trpc/server/adapters/node-http';
import type { Request, RequestHandler, Response } from 'express';
import { refused } from '../access/authenticate.ts';
import { identify, rateLimited } from '../http/identify.ts';
import { rateHeaders } from '../http/reply.ts';
import type { Transport } from '../http/transport.ts';
import type { AppRouter } from '../router.ts';
import { callContext } from '../rpc/call-context.ts';
import { toProblemError } from '../rpc/problem.ts';

const MAX_BODY_BYTES = 100 * 1024;
const MAX_BATCH = 20;

/** The procedures over tRPC, at `/trpc`. A batch is charged for each of its calls. */
export function trpcHandler(transport: Transport, router: AppRouter): RequestHandler {
  const { services, log } = transport;
  const origins = new Set(services.config.trpcOrigins);

  return async (req: Request, res: Response) => {
    allowOrigin(req, res, origins);
    if (req.method === 'OPTIONS') {
      res.status(204).end();
      return;
    }
    const path = req.path.slice(1);
    const calls = path.split(',').length;
    const { authentication, rate } = await identify(transport, req, null, calls);
    res.setHeaders(new Map(pairs(rateHeaders(rate))));
    if (!rate.allowed) res.setHeader('Retry-After', rate.resetSeconds);
    res.locals['operation'] = path;
    res.locals['credentialId'] = authentication.principal?.credentialId ?? null;

    const requestId = res.locals['requestId'] as string; // set for every response, in app.ts
    const ctx = callContext(services, requestId, rate.allowed ? authentication : refused(rateLimited(rate)), null);
    await nodeHTTPRequestHandler({
      req,
      res,
      path,
      router,
      createContext: () => ctx,
      maxBodySize: MAX_BODY_BYTES,
      maxBatchSize: MAX_BATCH,
      onError: ({ error }) => log.failure(toProblemError(error), requestId),
    });
  };
}

/** Frontends on other origins use bearer credentials; cookies are never allowed across origins. */
function allowOrigin(req: Request, res: Response, origins: ReadonlySet<string>): void {
  const { origin } = req.headers;
  if (origins.size > 0) res.vary('Origin');
  if (origin === undefined || !origins.has(origin)) return;
  res.setHeaders(
    new Map([
      ['Access-Control-Allow-Origin', origin],
      ['Access-Control-Allow-Methods', 'GET, POST'],
      ['Access-Control-Allow-Headers', 'Authorization, Content-Type, X-Request-Id'],
      [
        'Access-Control-Expose-Headers',
        'RateLimit-Limit, RateLimit-Remaining, RateLimit-Reset, Retry-After, X-Request-Id',
      ],
      ['Access-Control-Max-Age', '7200'],
    ]),
  );
}

function* pairs(flat: readonly string[]): Generator<[string, string]> {
  for (let i = 0; i + 1 < flat.length; i += 2) yield [flat[i] ?? '', flat[i + 1] ?? ''];
}
