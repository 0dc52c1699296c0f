import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Request, RequestHandler, Response } from 'express';
import type Provider from 'oidc-provider';
import { withoutOpenId } from './metadata.ts';

/** The engine as a handler of requests that knows itself by BASE_URL alone. */
export function engineOf(provider: Provider, baseUrl: string): RequestHandler {
  const { host, protocol } = new URL(baseUrl);
  provider.use(async (ctx, next) => {
    await next();
    if (ctx.oidc?.route === 'discovery') ctx.body = withoutOpenId(ctx.body as Record<string, unknown>); // the engine's document
    // It needs a secret, which no page has.
    if (ctx.oidc?.route === 'introspection') dropCors(ctx.res);
    dropUnusedCookie(ctx.res);
  });
  const handle = provider.callback();

  return async (req: Request, res: Response) => {
    const message = (req as { replayed?: IncomingMessage }).replayed ?? req; // set by withRedirectUri
    // The engine makes its URLs from these, so they are never the request's own. A target may name a host, too.
    message.headers.host = host;
    message.headers['x-forwarded-proto'] = protocol.slice(0, -1);
    delete message.headers['x-forwarded-host'];
    const url = message.url?.replace(/^https?:\/\/[^/?#]*/i, '');
    Object.assign(message, { url, originalUrl: url });
    res.set({ 'Referrer-Policy': 'no-referrer', 'X-Frame-Options': 'DENY' });
    await handle(message, res);
  };
}

function dropCors(res: ServerResponse): void {
  for (const name of res.getHeaderNames()) if (name.startsWith('access-control-')) res.removeHeader(name);
}

/** The engine's own session is not used, so its cookie is not sent. */
function dropUnusedCookie(res: ServerResponse): void {
  const cookies = [res.getHeader('Set-Cookie') ?? []].flat().map(String);
  const own = cookies.filter((cookie) => !/^_unused(?:\.sig)?=/.test(cookie));
  if (own.length > 0) res.setHeader('Set-Cookie', own);
  else res.removeHeader('Set-Cookie');
}
